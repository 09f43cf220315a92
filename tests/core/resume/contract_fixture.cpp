// Building the graphs, and telling changes in short.
#include <core/resume/contract_fixture.hpp>

#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/json/pointer.hpp>

namespace tenon::core::testing {

std::string plateau_text() {
  return with_schedule(R"({ "use": "schedule:plateau", "of": "opt", "with": { "metric": "acc", "factor": 0.5 } })");
}

std::string with_schedule(const std::string& schedule) {
  return replaced(demo_text(),
                  R"({ "use": "schedule:cosine", "of": "opt", "with": { "warmup": "50 steps", "until": "end" } })",
                  schedule);
}

Graph graph_of(const std::string& text) {
  Built built = build(text);
  EXPECT_TRUE(built.graph) << built.text();
  return std::move(*built.graph);
}

Json changed(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() + 1;
  if (value.is_string()) return value.get<std::string>() + "_";
  return Json("something else");
}

void each_leaf(const Json& value, const std::string& pointer, const std::function<void(const std::string&)>& visit) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, member] : value.items()) each_leaf(member, child_pointer(pointer, key), visit);
  } else if (value.is_array() && !value.empty() && value[0].is_object()) {
    for (std::size_t i = 0; i < value.size(); ++i) each_leaf(value[i], child_pointer(pointer, i), visit);
  } else {
    visit(pointer);
  }
}

Facts facts(const std::vector<Change>& changes) {
  Facts out;
  for (const Change& change : changes) {
    const bool applied = change.effect == Effect::kApplied;
    EXPECT_EQ(applied, change.accept.empty()) << change.pointer;
    EXPECT_FALSE(change.consequence.empty()) << change.pointer;
    out.push_back(fmt::format("{}: {}{}", change.pointer, applied ? "applied" : change.accept,
                              change.begins_anew.empty() ? "" : ", anew " + change.begins_anew));
  }
  return out;
}

Facts facts(const std::string& before, const std::string& after) {
  const Graph was = graph_of(before);
  const Graph is = graph_of(after);
  return facts(compare_pipelines(was.resolved, is.resolved, is));
}

}  // namespace tenon::core::testing
