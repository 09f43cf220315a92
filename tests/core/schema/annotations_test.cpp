// Components and secrets as parameters: where they are, how they are checked and described.
#include <core/schema/annotations.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/schema/checked.hpp>
#include <core/schema/describe.hpp>
#include <core/text/render.hpp>

namespace tenon::core {
namespace {

const Json& schema() {
  static const Json value = [] {
    Json root = Json::parse(R"json({
      "type": "object", "additionalProperties": false,
      "properties": {
        "inner": {"type": "object", "x-component": "transform", "additionalProperties": false, "required": ["use"],
                  "properties": {"use": {"type": "string"}, "with": {"type": "object"}}},
        "token": {"type": "object", "x-secret": true, "additionalProperties": false, "required": ["env"],
                  "properties": {"env": {"type": "string", "pattern": "^[A-Z_]+$"}}},
        "file": {"type": "string", "x-path": true}
      }})json");
    Json& properties = root["properties"];
    properties["stages"] = {{"type", "array"}, {"items", properties["inner"]}};
    properties["named"] = {{"type", "object"}, {"additionalProperties", properties["inner"]}};
    properties["extra"] = {{"anyOf", Json::array({Json{{"const", "none"}}, properties["inner"]})}};
    properties["login"] = {
        {"type", "object"}, {"additionalProperties", false}, {"properties", {{"password", properties["token"]}}}};
    return root;
  }();
  return value;
}

TEST(NestedPlaces, AreAllComponentsOfTheParametersButNotThoseWithinThem) {
  const Json value = Json::parse(R"({"inner": {"use": "transform:a", "with": {"inner": {"use": "transform:deep"}}},
                                     "stages": [{"use": "transform:b"}, {"use": "transform:c"}],
                                     "named": {"x/y": {"use": "transform:d"}}, "extra": {"use": "transform:e"}})");
  std::vector<std::string> found;
  for (const NestedPlace& each : nested_places(value, schema(), "/with")) {
    found.push_back(each.pointer + " " + each.kind + " " + each.use);
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"/with/inner transform transform:a", "/with/stages/0 transform transform:b",
                                      "/with/stages/1 transform transform:c", "/with/named/x~1y transform transform:d",
                                      "/with/extra transform transform:e"}));
}

TEST(NestedPlaces, LeaveOutWhatIsNoComponent) {
  for (const char* const value : {R"({"inner": "transform:a"})", R"({"inner": {"use": 3}})", R"({"inner": {}})",
                                  R"({"extra": "none"})", R"({"other": {"use": "transform:a"}})", "[]", "3"}) {
    EXPECT_TRUE(nested_places(Json::parse(value), schema()).empty()) << value;
  }
}

TEST(Describe, SaysComponentsAndSecretsInWords) {
  const Json& properties = schema()["properties"];
  EXPECT_EQ(describe_type(properties["inner"], schema()), "transform");
  EXPECT_EQ(describe_type(properties["stages"], schema()), "list of transform");
  EXPECT_EQ(describe_type(properties["extra"], schema()), R"("none" | transform)");
  EXPECT_EQ(describe_type(properties["token"], schema()), "secret");
  EXPECT_EQ(describe_wanted(properties["extra"], schema()),
            R"("none" or a transform such as { "use": "transform:name" })");
  EXPECT_EQ(describe_wanted(properties["token"], schema()), R"({ "env": "NAME" })");
}

TEST(Secrets, AreTheNamesOfVariablesAlone) {
  EXPECT_TRUE(check_text(R"({"token": {"env": "MY_TOKEN"}})", schema()).found().empty());
  for (const char* const written : {R"("hunter2")", R"({"env": "hunter2"})", R"({"env": "A", "b": "hunter2"})",
                                    R"({"value": "hunter2"})", R"(["hunter2"])", "{}"}) {
    const Checked checked = check_text(std::string(R"({"token": )") + written + "}", schema());
    EXPECT_EQ(checked.found(), (std::vector<std::string>{"bad-secret 1:11 /token"})) << written;
    EXPECT_EQ(render_text(checked.diagnostics).find("hunter2"), std::string::npos) << render_text(checked.diagnostics);
    EXPECT_EQ(render_json(checked.diagnostics).find("hunter2"), std::string::npos) << render_json(checked.diagnostics);
  }
}

TEST(Secrets, AreNotShownByOtherErrorsOfTheirLine) {
  for (const char* const text : {R"({"fil": 1, "token": "hunter2", "other": 2})", R"({"tokn": "hunter2", "file": 3})",
                                 R"({"file": 3, "login": {"password": "hunter2"}})", R"({"login": "hunter2"})"}) {
    const Checked checked = check_text(text, schema());
    EXPECT_TRUE(checked.diagnostics.has_errors());
    EXPECT_EQ(render_text(checked.diagnostics).find("hunter2"), std::string::npos) << render_text(checked.diagnostics);
    EXPECT_EQ(render_json(checked.diagnostics).find("hunter2"), std::string::npos) << render_json(checked.diagnostics);
  }
}

}  // namespace
}  // namespace tenon::core
