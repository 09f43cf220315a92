// Components that others take over as parameters: who is made, handed over and destroyed when.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/plugin/loader.hpp>
#include <tenon/components/nesting.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/params.hpp>

namespace tenon::core {
namespace {

std::vector<std::string> told;

struct NamedParams {
  std::string name;
  TENON_PARAMS(NamedParams, tenon::field(&NamedParams::name, "name", "What it tells of itself"))
};

class Plain : public Transform {
 public:
  explicit Plain(const NamedParams& params) : name(params.name) { told.push_back("made " + name); }
  ~Plain() override { told.push_back("destroyed " + name); }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const override {}

  std::string name;
};

class Outer final : public Plain, public Nesting {
 public:
  using Plain::Plain;
  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Nesting*>(this) : nullptr;
  }
  void adopt(std::string_view pointer, Component& inner) override {
    const auto& plain = static_cast<Plain&>(inner);
    if (plain.name == "unloved") throw Error(ErrorCode::kConfig, "takes no such component");
    if (plain.name == "blamed") throw Error(ErrorCode::kConfig, "is too large beside it", "/size");
    told.push_back(name + " took " + plain.name + " at " + std::string(pointer));
  }
};

const char* describe_nothing() noexcept { return "{}"; }

template <class C>
constexpr ComponentDescriptor kDescriptor{
    sizeof(ComponentDescriptor), Transform::kInterface,           Transform::kRevision, "named", "Made for a test",
    &describe_nothing,           &detail::create<C, NamedParams>, &detail::destroy<C>};

ComponentHandle make_plain(const std::string& name) { return {kDescriptor<Plain>, {{"name", name}}}; }
ComponentHandle make_outer(const std::string& name) { return {kDescriptor<Outer>, {{"name", name}}}; }

class NestedComponents : public testing::Test {
 protected:
  void SetUp() override { told.clear(); }
};

TEST_F(NestedComponents, AreTakenOverOneAfterTheOtherAndOutliveTheOuterOne) {
  {
    ComponentHandle outer = make_outer("a");
    ComponentHandle middle = make_outer("b");
    middle.adopt("/inner", make_plain("c"));
    outer.adopt("/first", std::move(middle));
    outer.adopt("/stages/0", make_plain("d"));
    const ComponentHandle moved = std::move(outer);
    told.emplace_back("end");
  }
  EXPECT_EQ(told, (std::vector<std::string>{"made a", "made b", "made c", "b took c at /inner", "a took b at /first",
                                            "made d", "a took d at /stages/0", "end", "destroyed a", "destroyed d",
                                            "destroyed b", "destroyed c"}));
}

TEST_F(NestedComponents, AreDestroyedByResetToo) {
  ComponentHandle outer = make_outer("a");
  outer.adopt("/inner", make_plain("b"));
  told.clear();
  outer.reset();
  EXPECT_EQ(told, (std::vector<std::string>{"destroyed a", "destroyed b"}));
}

TEST_F(NestedComponents, OfAClassThatCannotTakeThemAreThePluginsFault) {
  ComponentHandle outer = make_plain("a");
  try {
    outer.adopt("/inner", make_plain("b"));
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlugin);
    EXPECT_EQ(error.pointer(), "/inner");
    EXPECT_NE(std::string(error.what()).find("lacks the ability tenon.nesting/1"), std::string::npos) << error.what();
  }
  EXPECT_EQ(told.back(), "destroyed b");
}

TEST_F(NestedComponents, ThatTheOuterOneRefusesAreBlamedAtTheirPlaceUnlessItNamesAnother) {
  const auto pointer = [](const std::string& name) {
    ComponentHandle outer = make_outer("a");
    try {
      outer.adopt("/stages/3", make_plain(name));
    } catch (const Error& error) {
      return error.pointer();
    }
    return std::string("taken");
  };
  EXPECT_EQ(pointer("unloved"), "/stages/3");
  EXPECT_EQ(told, (std::vector<std::string>{"made a", "made unloved", "destroyed a", "destroyed unloved"}));
  EXPECT_EQ(pointer("blamed"), "/size");
  EXPECT_EQ(pointer("fine"), "taken");
}

std::string refused_kind(const std::string& kind) {
  const std::string place = R"({"type": "object", "x-component": )" + kind + "}";
  const std::string text = R"({"kind": "transform", "name": "outer", "summary": "x", "interface": "tenon.transform",
      "revision": 1, "parameters": {"properties": {"list": {"type": "array", "items":
        {"anyOf": [{"const": "none"}, )" +
                           place + "]}}, \"x-component\": " + place + "}}}";
  try {
    (void)parse_component(Json::parse(text), "/components/0");
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "taken";
}

TEST(Manifest, NamesOnlyKindsThatCanBeParameters) {
  EXPECT_EQ(refused_kind(R"("transform")"), "taken");
  EXPECT_EQ(refused_kind(R"("optimizer")"), "taken");
  for (const char* const kind : {R"("loader")", R"("transfrom")", R"("")"}) {
    const std::string message = refused_kind(kind);
    EXPECT_NE(message.find("/components/0/parameters/properties/list/items/anyOf/1/x-component"), std::string::npos)
        << message;
    EXPECT_NE(message.find("cannot be parameters"), std::string::npos) << message;
  }
  EXPECT_NE(refused_kind("3").find("a kind of component is expected"), std::string::npos);
}

}  // namespace
}  // namespace tenon::core
