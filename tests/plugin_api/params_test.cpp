// One declaration gives schema, defaults, parsing and errors.
#include <tenon/params.hpp>

#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tenon/error.hpp>

namespace tenon {
namespace {

enum class Mode { kFast, kExact };
TENON_ENUM(Mode, "fast", "exact")

struct Inner {
  double weight = 0.5;
  TENON_PARAMS(Inner, field(&Inner::weight, "weight", "A share").min(0).max(1))
};

struct Everything {
  bool flag = true;
  int64_t count = 3;
  double rate = 0.25;
  std::string name;
  std::filesystem::path file;
  Mode mode = Mode::kExact;
  Span warmup{50, Span::Unit::kSteps};
  Time limit{60};
  Bytes bucket{1024};
  Inner inner;
  std::vector<int64_t> sizes{64, 32};
  std::vector<Inner> parts;
  std::map<std::string, std::vector<int64_t>> axes;
  std::optional<int64_t> workers;
  std::optional<Span> until;

  TENON_PARAMS(Everything, field(&Everything::flag, "flag", "A switch"),
               field(&Everything::count, "count", "A number of things").min(1).max(9),
               field(&Everything::rate, "rate", "A rate").above(0).below(1).schedulable(),
               field(&Everything::name, "name", "A name").required(), field(&Everything::file, "file", "A file"),
               field(&Everything::mode, "mode", "A mode"), field(&Everything::warmup, "warmup", "A stretch"),
               field(&Everything::limit, "limit", "A time"), field(&Everything::bucket, "bucket", "A size"),
               field(&Everything::inner, "inner", "A struct"),
               field(&Everything::sizes, "sizes", "A list").min(1).min_items(1),
               field(&Everything::parts, "parts", "Structs"), field(&Everything::axes, "axes", "A map"),
               field(&Everything::workers, "workers", "A number or auto").min(0),
               field(&Everything::until, "until", "A stretch or the end").word("end"))
};

nlohmann::json schema() { return nlohmann::json::parse(schema_of(Everything::tenon_fields())); }

TEST(Params, SchemaCarriesTypesBoundsDefaultsAndTexts) {
  const nlohmann::json properties = schema()["properties"];
  EXPECT_EQ(properties["count"], R"({"type":"integer","minimum":1,"maximum":9,"default":3,
                                     "description":"A number of things"})"_json);
  EXPECT_EQ(properties["rate"], R"({"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1,"default":0.25,
                                    "description":"A rate","x-schedulable":true})"_json);
  EXPECT_EQ(properties["mode"], R"({"type":"string","enum":["fast","exact"],"default":"exact",
                                    "description":"A mode"})"_json);
  EXPECT_EQ(properties["warmup"]["default"], "50 steps");
  EXPECT_EQ(properties["warmup"]["x-unit"], "span");
  EXPECT_EQ(properties["sizes"]["items"], R"({"type":"integer","minimum":1})"_json);
  EXPECT_EQ(properties["sizes"]["default"], R"([64,32])"_json);
  EXPECT_EQ(properties["axes"]["additionalProperties"]["items"]["type"], "integer");
  EXPECT_EQ(properties["inner"]["properties"]["weight"]["maximum"], 1);
  EXPECT_EQ(properties["workers"]["anyOf"], R"([{"const":"auto"},{"type":"integer","minimum":0}])"_json);
  EXPECT_EQ(properties["until"]["anyOf"][0]["const"], "end");
  EXPECT_EQ(properties["until"]["default"], "end");
}

TEST(Params, SchemaIsClosedAndNamesWhatIsRequiredInTheOrderOfDeclaration) {
  EXPECT_EQ(schema()["additionalProperties"], false);
  EXPECT_EQ(schema()["required"], R"(["name"])"_json);
  EXPECT_FALSE(schema()["properties"]["name"].contains("default"));
  EXPECT_EQ(schema()["x-order"][0], "flag");
  EXPECT_EQ(schema()["x-order"][14], "until");
}

TEST(Params, MissingMembersKeepTheirDefaults) {
  const auto params = parse_params<Everything>(R"({"name":"x"})");
  EXPECT_EQ(params.count, 3);
  EXPECT_EQ(params.mode, Mode::kExact);
  EXPECT_EQ(params.sizes, (std::vector<int64_t>{64, 32}));
  EXPECT_FALSE(params.workers.has_value());
}

TEST(Params, EveryTypeIsRead) {
  const auto params = parse_params<Everything>(R"({"flag":false,"count":9,"rate":1e-4,"name":"n","file":"a/b",
      "mode":"fast","warmup":"2 epochs","limit":"15 min","bucket":"25 MiB","inner":{"weight":1},"sizes":[1],
      "parts":[{},{"weight":0}],"axes":{"image":[0,2]},"workers":4,"until":"100 steps"})");
  EXPECT_FALSE(params.flag);
  EXPECT_EQ(params.count, 9);
  EXPECT_EQ(params.rate, 1e-4);
  EXPECT_EQ(params.file, "a/b");
  EXPECT_EQ(params.mode, Mode::kFast);
  EXPECT_EQ(params.warmup, (Span{2, Span::Unit::kEpochs}));
  EXPECT_EQ(params.limit.seconds, 900);
  EXPECT_EQ(params.bucket.count, 25 << 20);
  EXPECT_EQ(params.inner.weight, 1);
  EXPECT_EQ(params.sizes, (std::vector<int64_t>{1}));
  ASSERT_EQ(params.parts.size(), 2U);
  EXPECT_EQ(params.parts[0].weight, 0.5);
  EXPECT_EQ(params.axes.at("image"), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(params.workers, 4);
  EXPECT_EQ(params.until, (Span{100, Span::Unit::kSteps}));
}

struct BadCase {
  const char* json;
  const char* pointer;
  const char* message;
};

class BadParams : public testing::TestWithParam<BadCase> {};

TEST_P(BadParams, AreRefusedWithTheirPointerAndTheFix) {
  try {
    static_cast<void>(parse_params<Everything>(GetParam().json));
    FAIL() << "accepted " << GetParam().json;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.pointer(), GetParam().pointer);
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadParams,
    testing::Values(BadCase{"{}", "", "needs \"name\""}, BadCase{"[]", "", "must be an object"},
                    BadCase{"{", "", "not valid JSON"},
                    BadCase{R"({"name":"x","nam":1})", "/nam", "there is no parameter \"nam\""},
                    BadCase{R"({"name":1})", "/name", "must be text"},
                    BadCase{R"({"name":"x","flag":"yes"})", "/flag", "must be true or false"},
                    BadCase{R"({"name":"x","count":3.0})", "/count", "must be an integer"},
                    BadCase{R"({"name":"x","count":0})", "/count", "0 must be at least 1"},
                    BadCase{R"({"name":"x","count":10})", "/count", "10 must be at most 9"},
                    BadCase{R"({"name":"x","rate":"0.1"})", "/rate", "must be a number"},
                    BadCase{R"({"name":"x","rate":0})", "/rate", "0 must be above 0"},
                    BadCase{R"({"name":"x","rate":1})", "/rate", "1 must be below 1"},
                    BadCase{R"({"name":"x","mode":"slow"})", "/mode", "one of \"fast\", \"exact\""},
                    BadCase{R"({"name":"x","warmup":50})", "/warmup", "text with a unit"},
                    BadCase{R"({"name":"x","warmup":"50"})", "/warmup", "has no unit"},
                    BadCase{R"({"name":"x","limit":"5 parsecs"})", "/limit", "ms, s, min, h, d"},
                    BadCase{R"({"name":"x","bucket":"1.5 B"})", "/bucket", "whole number of bytes"},
                    BadCase{R"({"name":"x","inner":{"weight":2}})", "/inner/weight", "2 must be at most 1"},
                    BadCase{R"({"name":"x","sizes":[]})", "/sizes", "at least 1 element"},
                    BadCase{R"({"name":"x","sizes":[4,0]})", "/sizes/1", "0 must be at least 1"},
                    BadCase{R"({"name":"x","parts":[{"w":1}]})", "/parts/0/w", "no parameter \"w\""},
                    BadCase{R"({"name":"x","axes":{"a/b":["c"]}})", "/axes/a~1b/0", "must be an integer"},
                    BadCase{R"({"name":"x","workers":"many"})", "/workers", "must be an integer"},
                    BadCase{R"({"name":"x","count":99999999999999999999})", "/count", "must be an integer"}));

struct WithComponents {
  Nested inner;
  Nested fallback{"loss:mse", R"({"scale":2})"};
  std::optional<Nested> extra;
  std::vector<Nested> stages;
  std::map<std::string, Nested> heads;
  int64_t seed = 0;

  TENON_PARAMS(WithComponents, field(&WithComponents::inner, "inner", "What is done").component("transform").required(),
               field(&WithComponents::fallback, "fallback", "Another loss").component("loss"),
               field(&WithComponents::extra, "extra", "Done before").component("transform").word("none"),
               field(&WithComponents::stages, "stages", "Done in order").component("transform").min_items(1),
               field(&WithComponents::heads, "heads", "By name").component("model"),
               field(&WithComponents::seed, "seed", "Shared number").agree())
};

TEST(NestedParams, SchemaMarksEachPlaceOfAComponentWithItsKind) {
  const nlohmann::json properties = nlohmann::json::parse(schema_of(WithComponents::tenon_fields()))["properties"];
  EXPECT_EQ(properties["inner"],
            R"({"type":"object","x-component":"transform","additionalProperties":false,"required":["use"],
                "x-order":["use","with"],"description":"What is done",
                "properties":{"use":{"type":"string","description":"Which transform, as in \"transform:name\""},
                              "with":{"type":"object","description":"Its parameters"}}})"_json);
  EXPECT_EQ(properties["fallback"]["x-component"], "loss");
  EXPECT_EQ(properties["fallback"]["default"], R"({"use":"loss:mse","with":{"scale":2}})"_json);
  EXPECT_EQ(properties["extra"]["anyOf"][0], R"({"const":"none"})"_json);
  EXPECT_EQ(properties["extra"]["anyOf"][1]["x-component"], "transform");
  EXPECT_EQ(properties["extra"]["default"], "none");
  EXPECT_EQ(properties["stages"]["items"]["x-component"], "transform");
  EXPECT_EQ(properties["stages"]["minItems"], 1);
  EXPECT_EQ(properties["heads"]["additionalProperties"]["x-component"], "model");
  EXPECT_FALSE(properties["stages"].contains("x-component"));
}

TEST(NestedParams, AreReadAsTheWordsOfThePipeline) {
  const auto params = parse_params<WithComponents>(
      R"({"inner":{"use":"transform:cutout","with":{"size":3}},"extra":{"use":"transform:flip"},
          "stages":[{"use":"transform:a"},{"use":"transform:b","with":{"deep":{"use":"x:y"}}}],
          "heads":{"left":{"use":"model:mlp"}}})");
  EXPECT_EQ(params.inner.use, "transform:cutout");
  EXPECT_EQ(params.inner.with, R"({"size":3})");
  EXPECT_EQ(params.fallback.use, "loss:mse");
  ASSERT_TRUE(params.extra.has_value());
  EXPECT_EQ(params.extra->with, "{}");
  ASSERT_EQ(params.stages.size(), 2U);
  EXPECT_EQ(params.stages[1].with, R"({"deep":{"use":"x:y"}})");
  EXPECT_EQ(params.heads.at("left").use, "model:mlp");
  EXPECT_FALSE(parse_params<WithComponents>(R"({"inner":{"use":"a:b"},"extra":"none"})").extra.has_value());
}

TEST(NestedParams, ThatAreNoComponentsAreRefusedAtTheirPlace) {
  const auto refused = [](const std::string& json, const std::string& pointer, const std::string& message) {
    try {
      static_cast<void>(parse_params<WithComponents>(json));
      ADD_FAILURE() << "accepted " << json;
    } catch (const Error& error) {
      EXPECT_EQ(error.pointer(), pointer) << json;
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  refused("{}", "", "needs \"inner\"");
  refused(R"({"inner":"transform:cutout"})", "/inner", "must be a component");
  refused(R"({"inner":{}})", "/inner", "needs \"use\"");
  refused(R"({"inner":{"use":3}})", "/inner", "needs \"use\"");
  refused(R"({"inner":{"use":"a:b","with":[]}})", "/inner/with", "must be an object");
  refused(R"({"inner":{"use":"a:b"},"stages":[{"use":"a:b","wth":{}}]})", "/stages/0/wth", "\"with\" alone");
  refused(R"({"inner":{"use":"a:b"},"stages":[]})", "/stages", "at least 1 element");
}

TEST(AgreeingParams, SchemaSaysSo) {
  const nlohmann::json properties = nlohmann::json::parse(schema_of(WithComponents::tenon_fields()))["properties"];
  EXPECT_EQ(properties["seed"]["x-agree"], true);
  EXPECT_FALSE(properties["stages"].contains("x-agree"));
}

template <class P>
std::string refused_declaration() {
  try {
    static_cast<void>(schema_of(P::tenon_fields()));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

struct WithoutKind {
  std::optional<Nested> inner;
  TENON_PARAMS(WithoutKind, field(&WithoutKind::inner, "inner", "Of what kind?"))
};

struct KindOfANumber {
  int64_t size = 1;
  TENON_PARAMS(KindOfANumber, field(&KindOfANumber::size, "size", "No component").component("model"))
};

struct WithoutDefault {
  Nested inner;
  TENON_PARAMS(WithoutDefault, field(&WithoutDefault::inner, "inner", "Which one?").component("model"))
};

struct SecretWithoutDefault {
  Secret token;
  TENON_PARAMS(SecretWithoutDefault, field(&SecretWithoutDefault::token, "token", "Which one?"))
};

TEST(NestedParams, DeclaredByHalvesAreRefusedWithTheFix) {
  EXPECT_NE(refused_declaration<WithoutKind>().find("\"inner\" is a component: say of which kind"), std::string::npos);
  EXPECT_NE(refused_declaration<KindOfANumber>().find("\"size\" is no Nested"), std::string::npos);
  EXPECT_NE(refused_declaration<WithoutDefault>().find("\"inner\" needs a default component, or required()"),
            std::string::npos);
  EXPECT_NE(refused_declaration<SecretWithoutDefault>().find("\"token\" needs a default variable, or required()"),
            std::string::npos);
}

struct WithSecrets {
  Secret token{"TENON_TEST_TOKEN"};
  std::optional<Secret> password;
  TENON_PARAMS(WithSecrets, field(&WithSecrets::token, "token", "Key of the service"),
               field(&WithSecrets::password, "password", "Of the proxy").word("none"))
};

TEST(Secrets, SchemaTakesTheNameOfAVariableAlone) {
  const nlohmann::json properties = nlohmann::json::parse(schema_of(WithSecrets::tenon_fields()))["properties"];
  EXPECT_EQ(properties["token"]["x-secret"], true);
  EXPECT_EQ(properties["token"]["type"], "object");
  EXPECT_EQ(properties["token"]["required"], R"(["env"])"_json);
  EXPECT_EQ(properties["token"]["default"], R"({"env":"TENON_TEST_TOKEN"})"_json);
  EXPECT_EQ(properties["password"]["anyOf"][1]["x-secret"], true);
}

TEST(Secrets, AreReadFromTheEnvironmentWhereTheyAreUsed) {
  const auto params = parse_params<WithSecrets>(R"({"token":{"env":"TENON_TEST_OTHER"},"password":{"env":"X"}})");
  EXPECT_EQ(params.token.variable(), "TENON_TEST_OTHER");
  ASSERT_EQ(::setenv("TENON_TEST_OTHER", "first", 1), 0);
  EXPECT_EQ(params.token.read(), "first");
  ASSERT_EQ(::setenv("TENON_TEST_OTHER", "second", 1), 0);
  EXPECT_EQ(params.token.read(), "second");
  ASSERT_EQ(::unsetenv("TENON_TEST_OTHER"), 0);
  EXPECT_EQ(params.password->variable(), "X");
}

TEST(Secrets, OfAVariableThatIsUnsetOrEmptyNameIt) {
  const auto message = [] {
    try {
      static_cast<void>(Secret("TENON_TEST_MISSING").read());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kConfig);
      return std::string(error.what());
    }
    return std::string();
  };
  ASSERT_EQ(::unsetenv("TENON_TEST_MISSING"), 0);
  EXPECT_NE(message().find("TENON_TEST_MISSING, which holds a secret, is not set"), std::string::npos) << message();
  ASSERT_EQ(::setenv("TENON_TEST_MISSING", "", 1), 0);
  EXPECT_NE(message().find("TENON_TEST_MISSING, which holds a secret, is empty"), std::string::npos) << message();
  ASSERT_EQ(::unsetenv("TENON_TEST_MISSING"), 0);
}

TEST(Secrets, WrittenAsTheyAreAreRefusedWithoutBeingRepeated) {
  for (const char* const json : {R"({"token":"hunter2"})", R"({"token":{"value":"hunter2"}})",
                                 R"({"token":{"env":["hunter2"]}})", R"({"password":"hunter2"})"}) {
    try {
      static_cast<void>(parse_params<WithSecrets>(json));
      ADD_FAILURE() << "accepted " << json;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("{ \"env\": \"NAME\" }"), std::string::npos) << error.what();
      EXPECT_TRUE(error.pointer() == "/token" || error.pointer() == "/password") << error.pointer();
    }
  }
}

}  // namespace
}  // namespace tenon
