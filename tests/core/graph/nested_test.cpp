// Components and secrets among parameters: origins, places, and what is kept from sight.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/graph/fixture.hpp>
#include <core/json/pointer.hpp>
#include <core/text/render.hpp>

namespace tenon::core::testing {
namespace {

std::string case_text(const std::string& name) {
  return read_text(std::filesystem::path(TENON_SOURCE_DIR) / "tests/pipelines" / (name + ".json"));
}

TEST(NestedGraph, TellsWhoseDefaultsTheParametersOfAnInnerComponentAre) {
  const Built built = build(case_text("good/nested-with-defaults"));
  ASSERT_TRUE(built.graph) << built.text();
  const auto origin = [&](const char* pointer) { return built.resolved.origin(pointer).describe(); };
  EXPECT_EQ(origin("/nodes/some/with/inner/with/size"), "default of transform:crop");
  EXPECT_EQ(origin("/nodes/some/with/inner/with"), "default of transform:crop");
  EXPECT_EQ(origin("/nodes/some/with/share"), "default of transform:sometimes");
  EXPECT_EQ(origin("/nodes/more/with/first/with/share"), "default of transform:sometimes");
  EXPECT_EQ(origin("/nodes/more/with/stages/0/use"), "default of transform:stack");
  EXPECT_EQ(origin("/nodes/more/with/first/with/inner/with/size"), "pipe.json:8:112");
}

TEST(NestedGraph, CountsPathsOfInnerComponentsFromTheFileThatHoldsThem) {
  ResolveRequest request;
  request.pipeline = "/some/folder/pipe.json";
  request.text = replaced(case_text("good/nested-paths-and-references"), "/out/values.csv", "out/values.csv");
  const Built built = build(request);
  ASSERT_TRUE(built.graph) << built.text();
  const Json* const path = find_value(built.graph->observe.at(0).with, "/observers/0/with/path");
  ASSERT_NE(path, nullptr);
  EXPECT_EQ(*path, "/some/folder/out/values.csv");
}

TEST(NestedGraph, ResolvesToItself) {
  for (const char* const name : {"good/nested-with-defaults", "good/secrets"}) {
    const Built built = build(case_text(name));
    ASSERT_TRUE(built.graph) << built.text();
    const std::string text = built.graph->resolved.dump(2);
    const Built again = build(text);
    ASSERT_TRUE(again.graph) << again.text();
    EXPECT_EQ(again.graph->resolved.dump(2), text);
  }
}

TEST(NestedGraph, PlacesWhatAnInnerComponentReportsLater) {
  const Built built = build(case_text("good/nested-with-defaults"));
  ASSERT_TRUE(built.graph) << built.text();
  const Node& more = built.graph->at("more");
  const Diagnostic written = diagnose(
      built.resolved, more, Error(ErrorCode::kConfig, "transform:crop is too large", "/first/with/inner/with/size"));
  EXPECT_EQ(written.span.text(), "3");
  EXPECT_EQ(written.pointer, "/nodes/more/with/first/with/inner/with/size");
  const Diagnostic added =
      diagnose(built.resolved, more, Error(ErrorCode::kConfig, "transform:crop is too large", "/named/a/with/size"));
  EXPECT_NE(render_text(added).find("about the parameter named/a/with/size"), std::string::npos) << render_text(added);
}

void collect_pointers(const Json& value, const std::string& pointer, std::vector<std::string>& pointers) {
  pointers.push_back(pointer);
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) collect_pointers(member, child_pointer(pointer, key), pointers);
}

TEST(NestedGraph, TakesAnyValueInAnyPlaceOfAComponentOrASecret) {
  for (const char* const name : {"good/nested-with-defaults", "good/secrets", "good/nested-paths-and-references"}) {
    const Json good = Json::parse(case_text(name));
    std::vector<std::string> pointers;
    collect_pointers(good, "", pointers);
    for (const std::string& pointer : pointers) {
      if (pointer.find("/with") == std::string::npos) continue;
      for (const char* const value :
           {"null", "true", "-3", "\"\"", "\"transform:crop\"", "[]", "{}", R"({"env": "A"})", R"({"use": 3})",
            R"({"use": "transform:mirror"})", R"({"use": "transform:crop", "with": []})", R"([{"use": "loss:mse"}])"}) {
        Json changed = good;
        *find_value(changed, pointer) = Json::parse(value);
        const Built built = build(changed.dump());
        EXPECT_NE(built.graph.has_value(), built.diagnostics.has_errors()) << pointer << " = " << value;
      }
    }
  }
}

TEST(SecretsInTheFile, AreNowhereToBeSeen) {
  const std::string text = case_text("bad/secrets-in-the-file");
  ASSERT_NE(text.find("hunter2"), std::string::npos);
  const Built built = build(text);
  EXPECT_EQ(built.text().find("hunter2"), std::string::npos) << built.text();
  EXPECT_EQ(render_json(built.diagnostics).find("hunter2"), std::string::npos);
  EXPECT_EQ(built.resolved.value().dump().find("hunter2"), std::string::npos) << built.resolved.value().dump(2);
  EXPECT_EQ(built.resolved.value().dump().find("123456"), std::string::npos) << built.resolved.value().dump(2);
  EXPECT_EQ(built.resolved.value()["vars"]["key"], "***");
}

TEST(SecretsInTheFile, AreNotShownWhereSetGaveThem) {
  ResolveRequest request;
  request.pipeline = "pipe.json";
  request.text = case_text("good/secrets");
  request.sets = {R"(observe.0.with.token="hunter2")"};
  const Built built = build(request);
  EXPECT_EQ(built.diagnostics.errors(), 1U) << built.text();
  EXPECT_NE(built.text().find("--set observe.0.with.token=***"), std::string::npos) << built.text();
  EXPECT_EQ(built.resolved.value().dump().find("hunter2"), std::string::npos);
}

TEST(SecretsInTheFile, AreNotShownWhereSetGaveThemWithoutQuotes) {
  ResolveRequest request;
  request.pipeline = "pipe.json";
  request.text = case_text("good/secrets");
  request.parameters = [](std::string_view component) {
    const ComponentInfo* const info = catalogue().find(component);
    return info == nullptr ? nullptr : &info->parameters;
  };
  for (const char* const place : {"observe.0.with.token", "observe.0.with.token.env", "observe.0.with.former.0",
                                  "observe.0.with.tokken", "observe.0.with", "observe.0", "nodes.nobody.with.token"}) {
    request.sets = {fmt::format("{}=hunter2 is it", place)};
    const Built built = build(request);
    EXPECT_NE(built.text().find("is not JSON"), std::string::npos) << built.text();
    EXPECT_EQ(built.text().find("hunter2"), std::string::npos) << built.text();
    EXPECT_EQ(render_json(built.diagnostics).find("hunter2"), std::string::npos) << place;
  }
  for (const char* const place : {"nodes.opt.with.lr", "nodes.train.in", "name", "vars.proxy"}) {
    request.sets = {fmt::format("{}=hunter2 is it", place)};
    const Built built = build(request);
    EXPECT_NE(built.text().find(fmt::format("--set '{}=\"hunter2 is it\"'", place)), std::string::npos) << built.text();
  }
}

TEST(SecretsInTheFile, StayAsTheyAreWrittenOtherwise) {
  const Built built = build(case_text("good/secrets"));
  ASSERT_TRUE(built.graph) << built.text();
  EXPECT_EQ(built.graph->observe.at(0).with["token"], Json::parse(R"({"env": "TRACKER_TOKEN"})"));
  EXPECT_EQ(built.resolved.origin("/observe/0/with/token").describe(), "default of observer:tracker");
}

}  // namespace
}  // namespace tenon::core::testing
