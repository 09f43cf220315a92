// The loader as the catalogue shows it, and its parameters.
#include <core/plugin/builtin.hpp>

#include <gtest/gtest.h>

#include <core/plugin/interfaces.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/observer.hpp>
#include <tenon/components/schedule.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

TEST(LoaderParams, have_the_documented_defaults) {
  const auto params = parse_params<LoaderParams>(R"({"batch":64})");
  EXPECT_EQ(params.batch, 64);
  EXPECT_FALSE(params.shuffle);
  EXPECT_EQ(params.workers, std::nullopt);
  EXPECT_EQ(params.prefetch, 2);
  EXPECT_EQ(params.last, LastBatch::kKeep);
}

TEST(LoaderParams, read_all_values) {
  const auto params =
      parse_params<LoaderParams>(R"({"batch":1,"shuffle":true,"workers":0,"prefetch":64,"last":"drop"})");
  EXPECT_TRUE(params.shuffle);
  EXPECT_EQ(params.workers, 0);
  EXPECT_EQ(params.last, LastBatch::kDrop);
  EXPECT_EQ(parse_params<LoaderParams>(R"({"batch":1,"workers":"auto"})").workers, std::nullopt);
}

TEST(LoaderParams, refuse_what_is_out_of_bounds) {
  for (const char* text : {R"({})", R"({"batch":0})", R"({"batch":1,"workers":257})", R"({"batch":1,"workers":-1})",
                           R"({"batch":1,"workers":"many"})", R"({"batch":1,"prefetch":0})",
                           R"({"batch":1,"last":"pad"})", R"({"batch":1,"shufle":true})"}) {
    EXPECT_THROW((void)parse_params<LoaderParams>(text), Error) << text;
  }
}

TEST(LoaderWorkers, auto_takes_all_cores_but_one_and_at_least_one) {
  EXPECT_EQ(loader_workers({}, 8), 7);
  EXPECT_EQ(loader_workers({}, 1), 1);
  EXPECT_EQ(loader_workers({}, 0), 1);
  LoaderParams params;
  params.workers = 0;
  EXPECT_EQ(loader_workers(params, 8), 0);
}

TEST(KernelPlugin, publishes_the_loader_with_its_schema) {
  const PluginInfo plugin = kernel_plugin();
  const ComponentInfo* loader = plugin.find("loader", "threads");
  ASSERT_NE(loader, nullptr);
  EXPECT_EQ(loader->plugin, kKernelPlugin);
  const Json& properties = loader->parameters.at("properties");
  for (const char* name : {"batch", "shuffle", "workers", "prefetch", "last"}) {
    EXPECT_TRUE(properties.contains(name)) << name;
    EXPECT_TRUE(properties.at(name).contains("description")) << name;
  }
  EXPECT_EQ(loader->parameters.at("required"), Json::array({"batch"}));
  EXPECT_EQ(properties.at("workers").at("default"), "auto");
  EXPECT_EQ(loader->parameters.at("additionalProperties"), false);
}

TEST(Interfaces, agree_with_the_sdks_headers) {
  const auto agrees = [](const char* kind, const char* interface, uint32_t revision) {
    const InterfaceInfo* info = find_interface(kind);
    return info != nullptr && info->interface == interface && info->revision == revision;
  };
  EXPECT_TRUE(agrees("dataset", Dataset::kInterface, Dataset::kRevision));
  EXPECT_TRUE(agrees("transform", Transform::kInterface, Transform::kRevision));
  EXPECT_TRUE(agrees("schedule", Schedule::kInterface, Schedule::kRevision));
  EXPECT_TRUE(agrees("observer", Observer::kInterface, Observer::kRevision));
  EXPECT_EQ(find_interface("sampler"), nullptr);
  for (const InterfaceInfo& info : interfaces()) {
    EXPECT_EQ(info.interface, "tenon." + std::string(info.kind));
  }
}

}  // namespace
}  // namespace tenon::core
