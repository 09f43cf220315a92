// Breadcrumbs and where plugins are mapped.
#include <core/process/breadcrumb.hpp>

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

#include <core/process/plugin_ranges.hpp>

namespace tenon::core {
namespace {

TEST(Breadcrumb, CallsNestAndEachThreadHasItsOwn) {
  const Callee& outer = callee("org.example.a", "1.0.0", "/a.so", "transform:sometimes", "aug");
  const Callee& inner = callee("org.example.b", "1.0.0", "/b.so", "distributed:threads", "ranks");
  EXPECT_EQ(breadcrumb.callee, nullptr);
  {
    const Entered applying(&outer, "apply", 17);
    {
      const Entered reducing(&inner, "all_reduce");
      EXPECT_EQ(breadcrumb.callee, &inner);
      EXPECT_EQ(breadcrumb.sample, -1);
    }
    EXPECT_EQ(breadcrumb.callee, &outer);
    EXPECT_STREQ(breadcrumb.method, "apply");
    EXPECT_EQ(breadcrumb.sample, 17);
    std::thread([] { EXPECT_EQ(breadcrumb.callee, nullptr); }).join();
  }
  EXPECT_EQ(breadcrumb.callee, nullptr);
}

TEST(Breadcrumb, AnExceptionTakesItsCallAway) {
  const Callee& thrower = callee("org.example.a", "1.0.0", "/a.so", "dataset:bad", "data");
  try {
    const Entered reading(&thrower, "read", 3);
    throw 1;
  } catch (int) {
    EXPECT_EQ(breadcrumb.callee, nullptr);
  }
}

TEST(Breadcrumb, OfAnotherThreadTellsTheCallThatItIsIn) {
  const Callee& reader = callee("org.example.a", "1.0.0", "/a.so", "dataset:slow", "data");
  std::promise<const Breadcrumb*> entered;
  std::promise<void> release;
  std::thread thread([&] {
    const Entered reading(&reader, "read", 42);
    entered.set_value(&breadcrumb);
    release.get_future().wait();
  });
  const Breadcrumb seen = peek(*entered.get_future().get());
  release.set_value();
  thread.join();
  EXPECT_EQ(seen.callee, &reader);
  EXPECT_STREQ(seen.method, "read");
  EXPECT_EQ(seen.sample, 42);
}

TEST(Callee, IsOneForTheSameTextsAndKeepsThem) {
  std::string node = "data";
  const Callee& one = callee("org.example.c", "1.0.0", "/c.so", "dataset:x", node);
  node = "gone";
  const Callee& other = callee("org.example.c", "1.0.0", "/c.so", "dataset:x", "data");
  EXPECT_EQ(&one, &other);
  EXPECT_STREQ(one.node, "data");
  EXPECT_NE(&one, &callee("org.example.c", "1.0.1", "/c.so", "dataset:x", "data"));
  bool listed = false;
  for (const Callee* each = callees(); each != nullptr; each = each->next) listed = listed || each == &one;
  EXPECT_TRUE(listed);
}

int somewhere_in_this_program = 0;

TEST(PluginRanges, TellWhoseCodeAnAddressIs) {
  const auto here = reinterpret_cast<uintptr_t>(&somewhere_in_this_program);
  const Callee& self = callee("org.example.self", "1.0.0", "/self");
  const std::unique_ptr<int> not_mapped = std::make_unique<int>(1);
  EXPECT_EQ(plugin_at(reinterpret_cast<uintptr_t>(not_mapped.get())), nullptr);
  note_plugin(self, not_mapped.get());  // in no library: nothing is noted
  EXPECT_EQ(plugin_at(reinterpret_cast<uintptr_t>(not_mapped.get())), nullptr);
  note_plugin(self, &somewhere_in_this_program);
  EXPECT_EQ(plugin_at(here), &self);
  EXPECT_EQ(plugin_at(reinterpret_cast<uintptr_t>(&plugin_at)), nullptr) << "the kernel is no plugin";
  note_plugin(callee("org.example.other", "1.0.0", "/other"), &somewhere_in_this_program);
  EXPECT_EQ(plugin_at(here), &self) << "the first stays";
}

}  // namespace
}  // namespace tenon::core
