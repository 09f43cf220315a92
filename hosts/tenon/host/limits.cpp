// Taking --limit apart.
#include <host/limits.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace tenon::host {
namespace {

[[noreturn]] void refuse(const Arguments& arguments, const std::string& message) {
  throw UsageError({message}, &arguments.command());
}

std::optional<int64_t> batches(std::string_view text) {
  const std::optional<int64_t> count = whole_number(text);
  return count.value_or(0) < 1 ? std::nullopt : count;
}

/// Sections of the pipeline that a word of --limit means.
std::vector<std::string> sections_of(std::string_view word, const core::Resolved& pipeline) {
  if (word == "train") return {"fit"};
  if (word == "test") return {"test"};
  if (word.starts_with("validate.")) return {std::string(word)};
  if (word != "val" && word != "validate") return {};
  const core::Json* const validate = pipeline.find("/validate");
  if (validate == nullptr || !validate->is_object() || validate->contains("data") || validate->contains("metrics")) {
    return {"validate"};
  }
  std::vector<std::string> each;
  for (const auto& [name, section] : validate->items()) each.push_back("validate." + name);
  return each;
}

}  // namespace

bool has_limits(const Arguments& arguments) { return arguments.has("limit") || arguments.has("overfit"); }

std::vector<std::string> limit_sets(const Arguments& arguments, const core::Resolved& pipeline) {
  std::vector<std::string> sets;
  const std::string given = arguments.value("limit").value_or("");
  const std::string_view text = given;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    const auto count = equals == std::string_view::npos ? std::nullopt : batches(part.substr(equals + 1));
    const auto sections = sections_of(part.substr(0, equals), pipeline);
    if (!count || sections.empty()) {
      refuse(arguments, fmt::format("--limit takes numbers of batches such as train=5,val=2,test=1, not \"{}\"", part));
    }
    for (const std::string& section : sections) sets.push_back(fmt::format("{}.limit={}", section, *count));
    begin = end + 1;
  }
  if (const auto overfit = arguments.value("overfit")) {
    const auto count = batches(*overfit);
    if (!count) refuse(arguments, fmt::format("--overfit takes a number of batches from 1 on, not \"{}\"", *overfit));
    sets.push_back(fmt::format("fit.overfit={}", *count));
    // What the model learns by heart is no better on other data: nothing may end the trial for that.
    if (pipeline.find("/stop") != nullptr) sets.emplace_back("stop=null");
  }
  return sets;
}

}  // namespace tenon::host
