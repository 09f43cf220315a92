// Extends and overlays: precedence, deletion, swaps of components.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/resolve/resolve.hpp>
#include <core/resolve/scratch.hpp>

namespace tenon::core {
namespace {

Outcome resolve_with(std::vector<std::filesystem::path> overlays, std::vector<std::string> sets = {}) {
  ResolveRequest request;
  request.pipeline = "p.json";
  request.overlays = std::move(overlays);
  request.sets = std::move(sets);
  return resolve_all(std::move(request));
}

TEST(Layers, PrecedenceRisesFromBaseToSet) {
  const Scratch scratch;
  scratch.write("a.json", R"({"run": {"seed": 1, "threads": 1, "device": "cpu", "dir": "a", "float32": "tf32"}})");
  scratch.write("b.json", R"({"run": {"seed": 2, "threads": 2, "device": "cuda", "dir": "b"}})");
  scratch.write("p.json", R"({"extends": ["a.json", "b.json"], "run": {"seed": 3, "threads": 3, "device": "auto"},
    "format": 1, "name": "x", "nodes": {}, "fit": {"data": "d", "loss": "l", "epochs": 1}})");
  scratch.write("o.json", R"({"run": {"seed": 4, "threads": 4}})");
  const Outcome outcome = resolve_with({"o.json"}, {"run.seed=5"});
  EXPECT_EQ(outcome.found(), Found{});
  EXPECT_EQ(outcome.at("/run/seed"), 5);
  EXPECT_EQ(outcome.at("/run/threads"), 4);
  EXPECT_EQ(outcome.at("/run/device"), "auto");
  EXPECT_EQ(outcome.at("/run/dir"), "b");
  EXPECT_EQ(outcome.at("/run/float32"), "tf32");
  EXPECT_EQ(outcome.resolved.find("/extends"), nullptr);
  EXPECT_EQ(outcome.resolved.origin("/run/seed").kind, LayerKind::kSet);
  EXPECT_EQ(outcome.resolved.origin("/run/threads").kind, LayerKind::kOverlay);
  EXPECT_EQ(outcome.resolved.origin("/run/device").kind, LayerKind::kFile);
  EXPECT_EQ(outcome.resolved.origin("/run/dir").kind, LayerKind::kExtends);
  EXPECT_EQ(outcome.resolved.origin("/run/determinism").kind, LayerKind::kDefault);
  EXPECT_EQ(outcome.resolved.origin("/run/dir").describe(), "b.json:1:60");
}

TEST(Layers, ObjectsMergeAndListsReplace) {
  const Scratch scratch;
  scratch.write("p.json", kSmall);
  scratch.write("o.json", R"({"nodes": {"opt": {"with": {"eps": 1e-6}, "groups": []}, "more": {"use": "x:y"}}})");
  const Outcome outcome = resolve_with({"o.json"});
  EXPECT_EQ(outcome.found(), Found{});
  EXPECT_EQ(outcome.at("/nodes/opt/with"), Json::parse(R"({"lr": 0.1, "eps": 1e-6})"));
  EXPECT_EQ(outcome.at("/nodes/opt/groups"), Json::array());
  EXPECT_EQ(outcome.at("/nodes/more/use"), "x:y");
}

TEST(Layers, NullDeletesInAnOverlayAndUponABase) {
  const Scratch scratch;
  scratch.write("base.json", kSmall);
  scratch.write("p.json", R"({"extends": "base.json", "nodes": {"opt": {"groups": null}}})");
  scratch.write("o.json", R"({"nodes": {"opt": {"with": null}}})");
  const Outcome outcome = resolve_with({"o.json"});
  EXPECT_EQ(outcome.found(), Found{});
  EXPECT_EQ(outcome.at("/nodes/opt"), Json::parse(R"({"use": "optimizer:adamw", "of": "net"})"));
}

TEST(Layers, ANullThatDeletesNothingIsToldOf) {
  const Scratch scratch;
  scratch.write("base.json", kSmall);
  scratch.write("p.json", "{\"extends\": \"base.json\", \"run\": null}");
  scratch.write("o.json", R"({"nodes": {"op": null, "new": {"use": "x:y", "with": {"a": null}}}})");
  const Outcome outcome = resolve_with({"o.json"});
  EXPECT_EQ(outcome.found(), (Found{"null-value p.json:1:33 /run", "nothing-to-delete o.json:1:18 /nodes/op",
                                    "nothing-to-delete o.json:1:60 /nodes/new/with/a"}));
  EXPECT_EQ(outcome.diagnostics.all()[1].severity, Severity::kWarning);
  EXPECT_EQ(outcome.diagnostics.all()[1].label, "did you mean \"opt\"?");
  EXPECT_EQ(outcome.at("/nodes/new/with"), Json::object());
}

TEST(Layers, AnotherComponentDropsTheOldParametersAndKeepsTheWiring) {
  const Scratch scratch;
  scratch.write("p.json", kSmall);
  scratch.write("sgd.json", R"({"nodes": {"opt": {"use": "optimizer:sgd", "with": {"momentum": 0.9}}}})");
  scratch.write("same.json", R"({"nodes": {"opt": {"use": "optimizer:adamw", "with": {"eps": 1}}}})");
  EXPECT_EQ(resolve_with({"sgd.json"}).at("/nodes/opt"),
            Json::parse(R"({"use": "optimizer:sgd", "of": "net", "with": {"momentum": 0.9}})"));
  EXPECT_EQ(resolve_with({"same.json"}).at("/nodes/opt/with"), Json::parse(R"({"lr": 0.1, "eps": 1})"));
  EXPECT_EQ(resolve_with({"sgd.json"}).found(), Found{});
}

TEST(Layers, BasesCountFromTheFileThatNamesThem) {
  const Scratch scratch;
  scratch.write("sub/base.json", R"({"extends": "inner/inner.json"})");
  scratch.write("sub/inner/inner.json", kSmall);
  scratch.write("p.json", R"({"extends": "sub/base.json"})");
  const Outcome outcome = resolve_with({});
  EXPECT_EQ(outcome.found(), Found{});
  EXPECT_EQ(outcome.resolved.origin("/name").describe(), "sub/inner/inner.json:3:11");
}

TEST(Layers, TheSameBaseTwiceIsNoCircle) {
  const Scratch scratch;
  scratch.write("base.json", kSmall);
  scratch.write("a.json", R"({"extends": "base.json"})");
  scratch.write("b.json", R"({"extends": "base.json"})");
  scratch.write("p.json", R"({"extends": ["a.json", "b.json"]})");
  EXPECT_EQ(resolve_with({}).found(), Found{});
}

TEST(Layers, CirclesAreErrors) {
  const Scratch scratch;
  scratch.write("p.json", R"({"extends": "./p.json"})");
  EXPECT_EQ(resolve_with({}).found(), (Found{"extends-cycle p.json:1:13 /extends"}));
  scratch.write("p.json", R"({"extends": "a.json"})");
  scratch.write("a.json",
                fmt::format(R"({{"extends": ["../{}/p.json"]}})", std::filesystem::current_path().filename().string()));
  const Outcome outcome = resolve_with({});
  EXPECT_EQ(outcome.found(), (Found{"extends-cycle a.json:1:14 /extends"}));
  EXPECT_FALSE(outcome.resolved.usable());
}

TEST(Layers, FilesThatExtendEachOtherTwiceAreRefusedBeforeTheyGrow) {
  const Scratch scratch;
  for (int i = 0; i < 40; ++i) {
    scratch.write(fmt::format("f{}.json", i), fmt::format(R"({{"extends": ["f{0}.json", "f{0}.json"]}})", i + 1));
  }
  scratch.write("f40.json", "{}");
  ResolveRequest request;
  request.pipeline = "f0.json";
  const Outcome outcome = resolve_all(request);
  EXPECT_EQ(outcome.diagnostics.all().front().code, "bad-extends");
  EXPECT_EQ(outcome.diagnostics.errors(), 1U);
}

TEST(Layers, WhatCannotBeExtendedIsShownAtItsName) {
  const Scratch scratch;
  scratch.write("base.json", kSmall);
  scratch.write("p.json", R"({"extends": ["bas.json", 3, "${vars.x}.json"]})");
  const Outcome outcome = resolve_with({"missing.json"});
  EXPECT_EQ(outcome.found(), (Found{"missing-file", "missing-file p.json:1:14", "bad-extends p.json:1:26 /extends",
                                    "bad-extends p.json:1:29 /extends"}));
  EXPECT_EQ(outcome.diagnostics.all()[1].label, "did you mean \"base.json\"?");
}

TEST(Layers, AnOverlayExtendsNothingAndIsAnObject) {
  const Scratch scratch;
  scratch.write("p.json", kSmall);
  scratch.write("o.json", R"({"extends": "p.json"})");
  scratch.write("l.json", "[]");
  EXPECT_EQ(resolve_with({"o.json"}).found(), (Found{"bad-extends o.json:1:13 /extends"}));
  EXPECT_EQ(resolve_with({"l.json"}).found(), (Found{"wrong-type l.json:1:1"}));
}

TEST(Layers, ErrorsAreShownInTheLayerThatWroteThem) {
  const Scratch scratch;
  scratch.write("p.json", kSmall);
  scratch.write("o.json", "{\"fit\": {\n  \"epochs\": 0, \"epoch\": 1 }}");
  EXPECT_EQ(resolve_with({"o.json"}).found(),
            (Found{"out-of-range o.json:2:13 /fit/epochs", "unknown-key o.json:2:16 /fit/epoch"}));
}

}  // namespace
}  // namespace tenon::core
