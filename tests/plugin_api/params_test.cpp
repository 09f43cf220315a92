// One declaration gives schema, defaults, parsing and errors.
#include <tenon/params.hpp>

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

}  // namespace
}  // namespace tenon
