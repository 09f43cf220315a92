// Port rules against values: what fits, what binds, what comes out, how it reads.
#include <core/graph/value_type.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

using Verdict = PortRules::Verdict;
using Axes = std::vector<Port::Axis>;

const std::vector<Dtype> kFloats{Dtype::kFloat16, Dtype::kBfloat16, Dtype::kFloat32, Dtype::kFloat64};

ValueType value(std::vector<Dim> head, std::optional<Dtype> dtype = Dtype::kFloat32) {
  ValueType type;
  type.dtype = dtype;
  type.head = std::move(head);
  return type;
}

ValueType with_rest(std::vector<Dim> head, std::vector<Dim> tail) {
  ValueType type = value(std::move(head));
  type.rest = true;
  type.tail = std::move(tail);
  return type;
}

Verdict take(const Axes& axes, const ValueType& type, const Json& with = Json::object()) {
  PortRules rules(with);
  return rules.take(Port::of("in", {}, axes), "in", type);
}

TEST(PortRules, ComparesNumbersOfAxes) {
  EXPECT_EQ(take({"N", "C"}, value({"N", 10})), Verdict::kFits);
  EXPECT_EQ(take({"N", "C"}, value({"N"})), Verdict::kShape);
  EXPECT_EQ(take({"N", "C"}, value({"N", 10, 3})), Verdict::kShape);
  EXPECT_EQ(take({}, value({})), Verdict::kFits);
  EXPECT_EQ(take({}, value({1})), Verdict::kShape);
}

TEST(PortRules, StarTakesAnyNumberOfAxesWhereItStands) {
  EXPECT_EQ(take({"N", "*"}, value({"N"})), Verdict::kFits);
  EXPECT_EQ(take({"N", "*"}, value({"N", 1, 2, 3})), Verdict::kFits);
  EXPECT_EQ(take({"N", "*"}, value({})), Verdict::kShape);
  EXPECT_EQ(take({"N", "*", 3}, value({"N", 5, 3})), Verdict::kFits);
  EXPECT_EQ(take({"N", "*", 3}, value({"N", 3, 5})), Verdict::kShape);
  EXPECT_EQ(take({"*"}, value({})), Verdict::kFits);
}

TEST(PortRules, ComparesSizesFromBothEndsOfAnUnknownMiddle) {
  EXPECT_EQ(take({"N", 3, 8}, with_rest({"N", 3}, {})), Verdict::kFits);
  EXPECT_EQ(take({"N", 3, 8}, with_rest({"N", 4}, {})), Verdict::kShape);
  EXPECT_EQ(take({"N", 3, 8}, with_rest({"N"}, {7})), Verdict::kShape);
  EXPECT_EQ(take({"N"}, with_rest({"N", 3}, {})), Verdict::kShape);
  EXPECT_EQ(take({"N", 3, "*", 8}, with_rest({"N", 3}, {8})), Verdict::kFits);
  EXPECT_EQ(take({"N", 3, "*", 8}, with_rest({"N", 3}, {9})), Verdict::kShape);
}

TEST(PortRules, ParametersAreSizes) {
  const Json with{{"classes", 10}, {"size", "auto"}};
  EXPECT_EQ(take({"$classes"}, value({10}), with), Verdict::kFits);
  EXPECT_EQ(take({"$classes"}, value({11}), with), Verdict::kShape);
  EXPECT_EQ(take({"$size"}, value({11}), with), Verdict::kFits) << "what is not known fits";
  EXPECT_EQ(take({"$absent"}, value({11}), with), Verdict::kFits);
}

TEST(PortRules, OneSymbolIsOneSizeOverAllPorts) {
  const Json none = Json::object();
  PortRules rules(none);
  const Port rule = Port::of("a", {}, {"N", "D"});
  EXPECT_EQ(rules.take(rule, "first", value({"N", 10})), Verdict::kFits);
  EXPECT_EQ(rules.take(rule, "second", value({"N", 10})), Verdict::kFits);
  EXPECT_EQ(rules.take(rule, "third", value({"N", Dim()})), Verdict::kFits) << "free axes fit";
  EXPECT_EQ(rules.take(rule, "fourth", value({"N", 9})), Verdict::kShape);
  EXPECT_EQ(rules.bound(rule), "D = 10 from \"first\"");
  EXPECT_EQ(take({"C", "H", "H"}, value({1, 8, 8})), Verdict::kFits);
  EXPECT_EQ(take({"C", "H", "H"}, value({1, 8, 9})), Verdict::kShape) << "within one port too";
}

TEST(PortRules, ASizeReplacesAnUnknownThatWasBoundBefore) {
  const Json none = Json::object();
  PortRules rules(none);
  const Port rule = Port::of("a", {}, {"D"});
  EXPECT_EQ(rules.take(rule, "first", value({Dim()})), Verdict::kFits);
  EXPECT_EQ(rules.take(rule, "second", value({4})), Verdict::kFits);
  EXPECT_EQ(rules.take(rule, "third", value({5})), Verdict::kShape);
}

TEST(PortRules, AMisfitBindsNothing) {
  const Json none = Json::object();
  PortRules rules(none);
  EXPECT_EQ(rules.take(Port::of("a", {}, {"D", 3}), "first", value({10, 4})), Verdict::kShape);
  EXPECT_EQ(rules.take(Port::of("a", {}, {"D"}), "second", value({5})), Verdict::kFits);
}

TEST(PortRules, ComparesElementTypes) {
  const Json none = Json::object();
  PortRules rules(none);
  const Port floats = Port::any("a", kFloats);
  EXPECT_EQ(rules.take(floats, "a", value({}, Dtype::kBfloat16)), Verdict::kFits);
  EXPECT_EQ(rules.take(floats, "a", value({}, Dtype::kUint8)), Verdict::kDtype);
  EXPECT_EQ(rules.take(floats, "a", value({}, std::nullopt)), Verdict::kFits);
  EXPECT_EQ(rules.take(Port::any("a"), "a", value({}, Dtype::kUint8)), Verdict::kFits);
}

TEST(PortRules, GivesTypesFromParametersSymbolsAndTheInput) {
  const Json with{{"classes", 10}};
  PortRules rules(with);
  ASSERT_EQ(rules.take(Port::of("image", {}, {"N", "C", "H", "W"}), "image", value({"N", 3, 8, 9})), Verdict::kFits);
  EXPECT_EQ(to_string(rules.give(Port::of("a", {Dtype::kFloat32}, {"N", "$classes", "H", "W"}), nullptr)),
            "float32[N, 10, 8, 9]");
  EXPECT_EQ(to_string(rules.give(Port::of("a", {Dtype::kFloat32}, {"L", 2, "$size", "*"}), nullptr)),
            "float32[L, 2, ?, *]");
  const ValueType in = value({1, 8, 8}, Dtype::kUint8);
  EXPECT_EQ(to_string(rules.give(Port::same("a", {Dtype::kFloat32}), &in)), "float32[1, 8, 8]");
  EXPECT_EQ(to_string(rules.give(Port::same("a"), &in)), "uint8[1, 8, 8]");
  EXPECT_EQ(to_string(rules.give(Port::of("a", {}, {4}), &in)), "uint8[4]");
  EXPECT_EQ(to_string(rules.give(Port::any("a"), nullptr)), "any[*]");
}

TEST(PortRules, ReadsLikeTheManifest) {
  const Json with{{"classes", 10}};
  EXPECT_EQ(describe_rule(Port::of("a", kFloats, {"N", "C"}), with), "float[N, C]");
  EXPECT_EQ(describe_rule(Port::of("a", {Dtype::kFloat32, Dtype::kInt64}, {"N", "$classes", "*"}), with),
            "float32|int64[N, 10, *]");
  EXPECT_EQ(
      describe_rule(Port::any("a", {Dtype::kInt64, Dtype::kInt32, Dtype::kInt16, Dtype::kInt8, Dtype::kUint8}), with),
      "int[*]");
  EXPECT_EQ(describe_rule(Port::of("a", {}, {"$absent"}), with), "any[$absent]");
}

TEST(PortNames, ComeFromParameters) {
  const Json with{{"field", "x"}, {"fields", {"x", "y"}}, {"count", 3}};
  EXPECT_EQ(port_names(Port::any("image"), with), std::vector<std::string>{"image"});
  EXPECT_EQ(port_names(Port::any("$field"), with), std::vector<std::string>{"x"});
  EXPECT_EQ(port_names(Port::any("$fields"), with), (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(port_names(Port::any("$count"), with).empty());
  EXPECT_TRUE(port_names(Port::any("$absent"), with).empty());
}

TEST(ValueTypes, AreFieldsOnlyWhenKnown) {
  EXPECT_TRUE(value({"N", Dim()}).field("a"));
  EXPECT_FALSE(value({"N"}, std::nullopt).field("a"));
  EXPECT_FALSE(with_rest({"N"}, {}).field("a"));
  EXPECT_FALSE(ValueType::unknown().field("a"));
}

}  // namespace
}  // namespace tenon::core
