// Finding a way to use a component about which little is known.
#include <conformance/use.hpp>

#include <map>
#include <optional>

#include <fmt/format.h>

#include <tenon/error.hpp>

// The linker makes these names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
extern const tenon::conformance::Kind* const __start_tenon_conformance_kinds[] __attribute__((visibility("hidden")));
extern const tenon::conformance::Kind* const __stop_tenon_conformance_kinds[] __attribute__((visibility("hidden")));
}
// NOLINTEND(readability-identifier-naming)

namespace tenon::conformance {
namespace {

/// The schema of the top parameter that a pointer lies in.
const Json* schema_at(const Subject& subject, const std::string& name) {
  const Json& schema = subject.schema();
  if (!schema.contains("properties") || !schema["properties"].contains(name)) return nullptr;
  return &schema["properties"][name];
}

std::string top_of(const std::string& pointer) {
  if (pointer.size() < 2) return {};
  return pointer.substr(1, pointer.find('/', 1) - 1);
}

}  // namespace

const Kind* find_kind(std::string_view name) {
  for (const Kind* const* each = __start_tenon_conformance_kinds; each != __stop_tenon_conformance_kinds; ++each) {
    if ((*each)->name == name) return *each;
  }
  return nullptr;
}

std::unique_ptr<Use> use_of(const Subject& subject, const Trial& trial) {
  const Kind* const kind = find_kind(subject.kind);
  if (kind == nullptr) throw Error(ErrorCode::kPlugin, "this Tenon has no kind " + subject.kind);
  return kind->use(subject, trial);
}

Working trials_of(const Subject& subject, const Json& params, std::size_t most) {
  Working working;
  std::optional<Error> blamed;  // a parameter is, rather than the inputs
  for (const Inputs& inputs : candidates(subject, params)) {
    const Trial trial{params, inputs, subject.seed};
    try {
      const std::unique_ptr<Use> use = use_of(subject, trial);
      use->prepare();
      Seen seen;
      use->go(0, 1, seen);
      working.trials.push_back(trial);
    } catch (const Error& error) {
      if (working.why_not.empty() || !error.pointer().empty()) working.why_not = error.what();
      if (!error.pointer().empty()) blamed = error;
    } catch (const std::exception& error) {
      if (working.why_not.empty()) working.why_not = error.what();
    }
    if (working.trials.size() >= most) break;
  }
  if (working.trials.empty() && blamed) throw Error(*blamed);
  return working;
}

Working find_working(const Subject& subject, Json params, std::size_t most) {
  std::map<std::string, std::size_t> tried;
  Working last;
  for (int round = 0; round < 24; ++round) {
    try {
      return trials_of(subject, params, most);
    } catch (const Error& error) {
      last = {{}, error.what()};
      const std::string name = top_of(error.pointer());
      const Json* const schema = schema_at(subject, name);
      if (schema == nullptr) return last;
      const std::vector<Json> values = alternatives(*schema, name, {});
      std::size_t& next = tried[name];
      if (next >= values.size()) return last;
      params[name] = values[next++];
    }
  }
  return last;
}

std::vector<Json> variations(const Subject& subject, const Json& params, const std::vector<std::string>& words,
                             std::size_t most) {
  std::vector<Json> all{params};
  if (!subject.schema().contains("properties")) return all;
  Rng random(random_key({subject.seed, name_key(subject.id())}));
  for (std::size_t i = 0; i < 5 * most && all.size() <= most; ++i) {
    Json drawn = params;
    for (const auto& [name, property] : subject.schema()["properties"].items()) {
      const bool keep = says(property, "x-path") || says(property, "x-component") || random.chance(0.5);
      if (!keep) drawn[name] = random_value(property, name, words, random);
    }
    try {
      (void)subject.make(drawn);
      all.push_back(std::move(drawn));
    } catch (const Error&) {
      continue;
    }
  }
  return all;
}

}  // namespace tenon::conformance
