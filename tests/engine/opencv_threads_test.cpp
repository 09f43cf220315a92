// OpenCV, which a plugin brings into the process, starts no threads beside the loader's.
#include <dlfcn.h>

#include <core/plugin/loader.hpp>
#include <engine/pipeline_fixture.hpp>

namespace tenon::engine {
namespace {

TEST(OpenCvThreads, AreNoneOnceAPluginThatUsesItIsOpened) {
  const core::Catalogue catalogue =
      core::Catalogue::scan(core::SearchPath::of({std::filesystem::path(TENON_BUILD_DIR) / "lib/tenon/plugins"}));
  const core::PluginInfo* const plugin = catalogue.plugin("org.tenon.image-transforms");
  ASSERT_NE(plugin, nullptr);
  const core::OpenedPlugin first(*plugin);
  void* const library = ::dlopen(plugin->path.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto set = reinterpret_cast<void (*)(int)>(::dlsym(library, "_ZN2cv13setNumThreadsEi"));
  const auto get = reinterpret_cast<int (*)()>(::dlsym(library, "_ZN2cv13getNumThreadsEv"));
  ASSERT_TRUE(set != nullptr && get != nullptr) << ::dlerror();
  EXPECT_EQ(get(), 1);
  set(3);
  ASSERT_EQ(get(), 3);
  const core::OpenedPlugin again(*plugin);
  EXPECT_EQ(get(), 1);
}

}  // namespace
}  // namespace tenon::engine
