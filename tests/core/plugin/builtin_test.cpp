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
  EXPECT_EQ(params.memory, (Bytes{int64_t{1} << 30}));
  EXPECT_EQ(params.sample_timeout, (Time{600}));
  EXPECT_FALSE(params.sampler || params.buckets || params.bad_sample);
  EXPECT_TRUE(params.pad.empty() && params.lists.empty());
}

TEST(LoaderParams, read_all_values) {
  const auto params =
      parse_params<LoaderParams>(R"({"batch":1,"shuffle":true,"workers":0,"prefetch":64,"last":"drop"})");
  EXPECT_TRUE(params.shuffle);
  EXPECT_EQ(params.workers, 0);
  EXPECT_EQ(params.last, LastBatch::kDrop);
  EXPECT_EQ(parse_params<LoaderParams>(R"({"batch":1,"workers":"auto"})").workers, std::nullopt);
  const auto further = parse_params<LoaderParams>(
      R"({"batch":8,"memory":"256 MiB","sample_timeout":"30 s","sampler":{"balance":"label"},)"
      R"("buckets":{"field":"tokens","pool":20},"pad":[{"field":"tokens","length":"size"}],"lists":["boxes"],)"
      R"("bad_sample":{"policy":"substitute","max":3}})");
  EXPECT_EQ(further.memory, (Bytes{int64_t{256} << 20}));
  EXPECT_EQ(further.sample_timeout, (Time{30}));
  EXPECT_EQ(further.sampler.value().balance, "label");
  EXPECT_EQ(further.buckets.value().pool, 20);
  EXPECT_EQ(further.pad.at(0).length, "size");
  EXPECT_EQ(further.lists, std::vector<std::string>{"boxes"});
  EXPECT_EQ(further.bad_sample.value().policy, BadSamplePolicy::kSubstitute);
}

TEST(LoaderParams, refuse_what_is_out_of_bounds) {
  for (const char* text :
       {R"({})", R"({"batch":0})", R"({"batch":1,"workers":257})", R"({"batch":1,"workers":-1})",
        R"({"batch":1,"workers":"many"})", R"({"batch":1,"prefetch":0})", R"({"batch":1,"last":"pad"})",
        R"({"batch":1,"shufle":true})", R"({"batch":1,"memory":1000})", R"({"batch":1,"sample_timeout":"10"})",
        R"({"batch":1,"bad_sample":{"policy":"skip"}})"}) {
    EXPECT_THROW((void)parse_params<LoaderParams>(text), Error) << text;
  }
}

TEST(KernelPlugin, publishes_the_loader_with_its_schema) {
  const PluginInfo plugin = kernel_plugin();
  const ComponentInfo* loader = plugin.find("loader", "threads");
  ASSERT_NE(loader, nullptr);
  EXPECT_EQ(loader->plugin, kKernelPlugin);
  const Json& properties = loader->parameters.at("properties");
  for (const char* name : {"batch", "shuffle", "sampler", "buckets", "last", "pad", "lists", "bad_sample", "workers",
                           "prefetch", "memory", "sample_timeout"}) {
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
