// Components among parameters, over several layers.
#include <gtest/gtest.h>

#include <core/resolve/resolve.hpp>
#include <core/resolve/scratch.hpp>

namespace tenon::core {
namespace {

constexpr const char* kText = R"({"format": 1, "name": "x", "fit": {"data": "d", "loss": "l", "epochs": 1},
"nodes": {"a": {"use": "x:outer", "with": {"share": 1, "inner": {"use": "x:one", "with": {"size": 3, "deep": 4}}}}}})";

Outcome resolve_with(const char* overlay) {
  ResolveRequest request;
  request.pipeline = "pipe.json";
  request.overlays = {overlay};
  return resolve_all(request);
}

Json inner_of(const Outcome& outcome) { return outcome.at("/nodes/a/with/inner"); }

TEST(NestedLayers, AnotherInnerComponentDropsTheParametersOfTheFormerOne) {
  const Scratch scratch;
  scratch.write("pipe.json", kText);
  scratch.write("same.json", R"({"nodes": {"a": {"with": {"inner": {"use": "x:one", "with": {"size": 5}}}}}})");
  scratch.write("other.json", R"({"nodes": {"a": {"with": {"inner": {"use": "x:two", "with": {"rate": 1}}}}}})");
  EXPECT_EQ(inner_of(resolve_with("same.json")), Json::parse(R"({"use": "x:one", "with": {"size": 5, "deep": 4}})"));
  const Outcome swapped = resolve_with("other.json");
  EXPECT_EQ(inner_of(swapped), Json::parse(R"({"use": "x:two", "with": {"rate": 1}})"));
  EXPECT_EQ(swapped.at("/nodes/a/with/share"), 1);
}

TEST(NestedLayers, SetSwapsAnInnerComponentLikewise) {
  EXPECT_EQ(inner_of(resolve_text(kText, {R"(nodes.a.with.inner.use="x:two")"})), Json::parse(R"({"use": "x:two"})"));
  EXPECT_EQ(inner_of(resolve_text(kText, {R"(nodes.a.with.inner.use="x:one")"})),
            Json::parse(R"({"use": "x:one", "with": {"size": 3, "deep": 4}})"));
  EXPECT_EQ(inner_of(resolve_text(kText, {"nodes.a.with.inner.with.size=9"})),
            Json::parse(R"({"use": "x:one", "with": {"size": 9, "deep": 4}})"));
}

}  // namespace
}  // namespace tenon::core
