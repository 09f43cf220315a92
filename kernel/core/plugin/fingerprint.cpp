// Build facts: parsing and comparison.
#include <core/plugin/fingerprint.hpp>

#include <array>
#include <vector>

#include <fmt/format.h>

#include <core/plugin/refusal.hpp>
#include <tenon/fingerprint.hpp>

#ifndef TENON_LIBTORCH_VERSION
#error "the build must say for which libtorch this is: TENON_LIBTORCH_VERSION, TENON_CUDA_MAJOR"
#endif

namespace tenon::core {
namespace {

using Facts = std::map<std::string, std::string>;

struct FactInfo {
  std::string_view key;
  std::string_view name;
  std::string_view fix;
  bool when_present = false;  ///< Counts only where the plugin has it.
};

constexpr std::string_view kRebuild = "rebuild the plugin against this Tenon";

constexpr std::array kFacts{
    FactInfo{"cxxabi", "C++ ABI", kRebuild},
    FactInfo{"string", "std::string layout", "rebuild the plugin with the same -D_GLIBCXX_USE_CXX11_ABI as this Tenon"},
    FactInfo{"debug", "_GLIBCXX_DEBUG", "rebuild the plugin without or with -D_GLIBCXX_DEBUG, as this Tenon was built"},
    FactInfo{"sanitize", "sanitizer", "rebuild the plugin with the same -fsanitize as this Tenon"},
    FactInfo{"libtorch", "libtorch", "rebuild the plugin against this Tenon, or use the Tenon that it was built for",
             true},
    FactInfo{"cuda", "CUDA", "rebuild the plugin against this Tenon, or use the Tenon that it was built for", true}};

std::string side(const Facts& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found == facts.end() ? "nothing said" : found->second;
}

}  // namespace

std::map<std::string, std::string> parse_fingerprint(std::string_view text) {
  Facts facts;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::string_view fact = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (fact.empty()) continue;
    const std::size_t equals = fact.find('=');
    if (equals == std::string_view::npos || equals == 0 ||
        !facts.emplace(fact.substr(0, equals), fact.substr(equals + 1)).second) {
      throw Refusal("fingerprint",
                    fmt::format("its fingerprint holds \"{}\", which is no new key=value; {}", fact, kRebuild));
    }
  }
  return facts;
}

std::string_view host_fingerprint() noexcept { return TENON_FINGERPRINT; }

std::string fingerprint_difference(std::string_view plugin, std::string_view host) {
  Facts theirs = parse_fingerprint(plugin);
  Facts ours = parse_fingerprint(host);
  std::vector<std::string> differences;
  std::string_view fix;
  const auto compare = [&](const FactInfo& fact) {
    const std::string key(fact.key);
    const std::string their_side = side(theirs, key);
    const std::string our_side = side(ours, key);
    const bool counts = !fact.when_present || theirs.contains(key);
    if (counts && (their_side != our_side || !theirs.contains(key))) {
      differences.push_back(fmt::format("{}: plugin {}, this Tenon {}", fact.name, their_side, our_side));
      if (fix.empty()) fix = fact.fix;
    }
    theirs.erase(key);
    ours.erase(key);
  };
  for (const FactInfo& fact : kFacts) {
    compare(fact);
  }
  while (!theirs.empty()) {
    const std::string key = theirs.begin()->first;
    compare({key, key, kRebuild});
  }
  while (!ours.empty()) {
    const std::string key = ours.begin()->first;
    compare({key, key, kRebuild});
  }
  if (differences.empty()) return {};
  return fmt::format("it was built differently ({}); {}", fmt::join(differences, "; "), fix);
}

}  // namespace tenon::core
