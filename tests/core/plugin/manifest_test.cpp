// Manifests are read strictly.
#include <core/plugin/manifest.hpp>

#include <gtest/gtest.h>

#include <core/plugin/made_plugin.hpp>
#include <core/plugin/refusal.hpp>

namespace tenon::core {
namespace {

constexpr const char* kManifest = R"({
  "manifest": 1, "id": "org.tenon.losses", "version": "0.1.0", "licence": "Apache-2.0", "api": 1,
  "fingerprint": "cxxabi=itanium string=cxx11 debug=0 sanitize=none libtorch=2.11.0 cuda=13", "namespaces": ["mine"],
  "components": [
    { "kind": "metric", "name": "accuracy", "summary": "Right answers", "interface": "tenon.metric", "revision": 1,
      "parameters": { "type": "object", "additionalProperties": false, "properties": { "z": {}, "a": {} } },
      "ports": { "in": [ { "name": "logits", "dtype": ["float32", "float64"], "shape": ["N", "$classes", 3, "*"] },
                         { "name": "$port", "optional": true } ],
                 "out": [ { "pass": "*", "except": ["x"] }, { "name": "y", "shape": "same" }, { "open": true } ] },
      "metrics": [ { "name": "value", "direction": "max" }, { "name": "error", "direction": "min" } ],
      "abilities": ["tenon.controller/1"], "traits": ["deterministic"] } ] })";

std::string reason_of(const Json& manifest) {
  try {
    (void)parse_manifest(manifest);
  } catch (const Refusal& refusal) {
    return refusal.reason() + ": " + refusal.what();
  }
  return "taken";
}

/// The manifest with another value at a JSON pointer, or without it where the value is null.
std::string reason_with(const std::string& pointer, const Json& value) {
  Json manifest = Json::parse(kManifest);
  const Json::json_pointer place(pointer);
  if (value.is_null()) {
    manifest[place.parent_pointer()].erase(place.back());
  } else {
    manifest[place] = value;
  }
  return reason_of(manifest);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Manifest, becomes_values) {
  const PluginInfo plugin = parse_manifest(std::string_view(kManifest));
  EXPECT_EQ(plugin.id, "org.tenon.losses");
  EXPECT_EQ(plugin.namespaces, (std::vector<std::string>{"mine"}));
  EXPECT_TRUE(plugin.over_libtorch());
  ASSERT_EQ(plugin.components.size(), 1U);
  const ComponentInfo& component = plugin.components[0];
  EXPECT_EQ(component.id(), "metric:accuracy");
  EXPECT_EQ(component.plugin, "org.tenon.losses");
  EXPECT_EQ(plugin.find("metric", "accuracy"), &component);
  EXPECT_EQ(plugin.find("loss", "accuracy"), nullptr);
  EXPECT_EQ(component.parameters["properties"].begin().key(), "z");  // in the order of the file
  EXPECT_TRUE(component.has_trait("deterministic"));
  EXPECT_FALSE(component.has_trait("random"));
  EXPECT_TRUE(component.has_ability("tenon.controller/1"));
  ASSERT_EQ(component.metrics.size(), 2U);
  EXPECT_EQ(component.metrics[0].direction, Direction::kMax);
  EXPECT_EQ(component.metrics[1].direction, Direction::kMin);
  ASSERT_EQ(component.ports.in.size(), 2U);
  const PortRule& logits = component.ports.in[0];
  EXPECT_EQ(logits.dtypes, (std::vector<Dtype>{Dtype::kFloat32, Dtype::kFloat64}));
  EXPECT_EQ(logits.shape, (std::vector<Port::Axis>{"N", "$classes", int64_t{3}, "*"}));
  EXPECT_FALSE(logits.any_shape);
  EXPECT_TRUE(component.ports.in[1].optional);
  EXPECT_TRUE(component.ports.in[1].any_shape);
  ASSERT_EQ(component.ports.out.size(), 3U);
  EXPECT_TRUE(component.ports.out[0].pass);
  EXPECT_EQ(component.ports.out[0].except, (std::vector<std::string>{"x"}));
  EXPECT_TRUE(component.ports.out[1].same_shape);
  EXPECT_TRUE(component.ports.out[2].open);
}

TEST(Manifest, may_be_padded_with_zeros) {
  EXPECT_EQ(parse_manifest(std::string_view(std::string(kManifest) + std::string(3, '\0'))).id, "org.tenon.losses");
}

TEST(Manifest, refusals_name_the_place) {
  EXPECT_TRUE(has(reason_with("/id", nullptr), "manifest: its manifest is not valid at /: \"id\" is missing"));
  EXPECT_TRUE(has(reason_with("/id", 3), "at /id: a text is expected"));
  EXPECT_TRUE(has(reason_with("/id", ""), "at /id: a text is expected"));
  for (const char* const id : {"a", "A.b", "org.", ".org", "org..a", "org.a b", "1.a", "org.a/b", "org.a\n"}) {
    EXPECT_TRUE(has(reason_with("/id", id), "at /id: an id is a reverse domain name")) << id;
  }
  for (const char* const version : {"1", "1.0", "1.0.0.0", "1..0", ".1.0", "1.0.", "1.0.x", "v1.0.0", "1.0.0-rc"}) {
    EXPECT_TRUE(has(reason_with("/version", version), "at /version: versions are major.minor.patch")) << version;
  }
  EXPECT_TRUE(has(reason_with("/extra", 1), "at /extra: this Tenon does not know \"extra\""));
  EXPECT_TRUE(has(reason_with("/components", nullptr), "\"components\" is missing"));
  EXPECT_TRUE(has(reason_with("/components", Json::object()), "at /components: a list is expected"));
  EXPECT_TRUE(has(reason_with("/components/0", 1), "at /components/0: an object is expected"));
  EXPECT_TRUE(has(reason_with("/components/0/name", "Accuracy"), "at /components/0/name: names match"));
  EXPECT_TRUE(has(reason_with("/components/0/parameters", 1), "at /components/0/parameters: an object"));
  EXPECT_TRUE(has(reason_with("/components/0/revision", -1), "at /components/0/revision: an integer"));
  EXPECT_TRUE(has(reason_with("/components/0/ports/in/0/dtype/1", "float33"),
                  "at /components/0/ports/in/0/dtype/1: \"float33\""));
  EXPECT_TRUE(has(reason_with("/components/0/ports/in/0/shape/2", -3), "at /components/0/ports/in/0/shape/2"));
  EXPECT_TRUE(has(reason_with("/components/0/ports/in/0/shape/2", 1.5), "at /components/0/ports/in/0/shape/2"));
  EXPECT_TRUE(has(reason_with("/components/0/ports/in/0/shape", 1), "at /components/0/ports/in/0/shape: a list"));
  EXPECT_TRUE(has(reason_with("/components/0/ports/in/0/each", "x"), "does not know \"each\""));
  EXPECT_TRUE(has(reason_with("/components/0/ports/out/0/pass", 1), "at /components/0/ports/out/0/pass"));
  EXPECT_TRUE(has(reason_with("/components/0/ports/out/2/open", "yes"), "true or false"));
  EXPECT_TRUE(has(reason_with("/components/0/metrics/0/direction", "up"), "\"max\" or \"min\""));
  EXPECT_TRUE(has(reason_with("/components/0/traits/0", 1), "at /components/0/traits/0"));
}

TEST(Manifest, names_both_versions_where_they_differ) {
  EXPECT_TRUE(
      has(reason_with("/manifest", 2), "manifest-format: its manifest has format 2, this Tenon reads format 1"));
  EXPECT_TRUE(
      has(reason_with("/api", 2), "api: it was built for plugin API 2, this Tenon has API 1; use a newer Tenon"));
  EXPECT_TRUE(has(reason_with("/api", 0), "API 0, this Tenon has API 1; rebuild the plugin"));
  EXPECT_TRUE(has(reason_with("/components/0/revision", 2),
                  "revision: its component metric:accuracy was built for tenon.metric revision 2, this Tenon has "
                  "tenon.metric revision 1"));
  EXPECT_TRUE(has(reason_with("/components/0/interface", "tenon.loss"), "revision: "));
  EXPECT_TRUE(
      has(reason_with("/components/0/kind", "sampler"), "unknown-kind: its component sampler:accuracy is of a kind"));
}

TEST(Manifest, refuses_two_components_of_one_name) {
  Json manifest = Json::parse(kManifest);
  manifest["components"].push_back(manifest["components"][0]);
  EXPECT_TRUE(has(reason_of(manifest), "duplicate-component: it brings two components of the name metric:accuracy"));
}

TEST(Manifest, refuses_text_that_is_not_json) {
  for (const char* text : {"", "{", "[1", "{\"id\":1,\"id\":2}", "{} x"}) {
    EXPECT_THROW((void)manifest_json(text), Refusal) << text;
  }
  EXPECT_THROW((void)parse_manifest(std::string_view("[]")), Refusal);
}

TEST(Manifest, refuses_text_that_would_steer_a_terminal) {
  for (const char* const text : {R"({"id":"\u001b[31m"})", R"({"a":[{"summary":"\u0007"}]})", R"({"x\u007f":1})",
                                 R"({"a":"\u009b2J"})", R"({"a":"\r"})"}) {
    EXPECT_THROW((void)manifest_json(text), Refusal) << text;
  }
  for (const char* const text : {R"({"summary":"two\n\tlines, à la carte"})", R"({"default":"\u001f"})"}) {
    EXPECT_NO_THROW((void)manifest_json(text)) << text;
  }
}

TEST(IdentityOf, reads_what_it_can) {
  const ManifestIdentity identity = identity_of(
      Json::parse(R"({"id":"a","components":[{"kind":"loss","name":"x","revision":9},{"kind":"loss"},3]})"));
  EXPECT_EQ(identity.id, "a");
  EXPECT_EQ(identity.components, (std::vector<std::string>{"loss:x"}));
  EXPECT_TRUE(identity_of(Json::array()).id.empty());
  EXPECT_TRUE(identity_of(Json::parse(R"({"id":1,"components":{}})")).components.empty());
}

TEST(Manifest, refuses_control_characters_also_where_a_parameter_is_called_like_a_word_of_schemas) {
  for (const char* const name : {"pattern", "default", "other"}) {
    Json manifest = Json::parse(kManifest);
    manifest["components"][0]["parameters"]["properties"][name] = {{"type", "string"}, {"description", "\x1b[2J"}};
    try {
      (void)manifest_json(manifest.dump());
      ADD_FAILURE() << name << " is taken";
    } catch (const Refusal& refusal) {
      EXPECT_TRUE(has(refusal.what(), "control characters")) << refusal.what();
    }
  }
}

}  // namespace
}  // namespace tenon::core
