// The loader's search for libraries, compared with what the loader itself did for this process.
#include <core/plugin/dependencies.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include <core/plugin/search_path.hpp>
#include <core/storage/file.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_of(const LibraryMap::Closure& closure) {
  std::set<std::string> names;
  for (const DynamicImage* const each : closure.libraries) names.insert(fs::canonical(each->path()).string());
  return names;
}

TEST(LibraryMap, StartsWithWhatTheLoaderOpenedForThisProgram) {
  const LibraryMap map;
  ASSERT_FALSE(map.global().empty());
  EXPECT_EQ(map.global().front()->path(), fs::canonical("/proc/self/exe"));
  for (const DynamicImage* const library : map.global()) {
    if (library == map.global().front()) continue;
    void* const handle = ::dlopen(library->path().c_str(), RTLD_NOW | RTLD_NOLOAD);
    EXPECT_NE(handle, nullptr) << library->path() << " is not in the process";
    if (handle != nullptr) (void)::dlclose(handle);
  }
}

TEST(LibraryMap, FindsTheSameFilesWithoutTheProcessAsInIt) {
  const fs::path core = install_library_folder() / "libtenon_core.so.1";
  LibraryMap here;
  const LibraryMap::Closure mapped = here.closure(core);
  ASSERT_TRUE(mapped.missing.empty());
  std::vector<fs::path> folders;  // where the loader found them
  for (const DynamicImage* const each : mapped.libraries) folders.push_back(each->path().parent_path());
  LibraryMap elsewhere(folders);
  const LibraryMap::Closure searched = elsewhere.closure(core);
  EXPECT_TRUE(searched.missing.empty());
  EXPECT_EQ(names_of(mapped), names_of(searched));
}

TEST(LibraryMap, TellsWhoAsksForWhatIsMissingAndWhereItWasLookedFor) {
  const fs::path core = install_library_folder() / "libtenon_core.so.1";
  LibraryMap empty({"/nowhere"});
  const LibraryMap::Closure closure = empty.closure(core);
  const auto missing = std::ranges::find(closure.missing, std::string("libc.so.6"), &MissingLibrary::name);
  ASSERT_NE(missing, closure.missing.end());
  ASSERT_FALSE(missing->chain.empty());
  EXPECT_EQ(missing->chain.front(), core);
  EXPECT_NE(std::ranges::find(missing->looked, "RUNPATH " + core.parent_path().string()), missing->looked.end());
  EXPECT_NE(std::ranges::find(missing->looked, std::string("/nowhere")), missing->looked.end());
  EXPECT_EQ(closure.libraries.at(1)->soname(), "libtenon_api.so.1") << "found through $ORIGIN";
}

TEST(LibraryMap, GivesWhatWasOpenedToWhoeverAsksForItsSoname) {
  LibraryMap map({"/nowhere"});
  const fs::path api = install_library_folder() / "libtenon_api.so.1";
  (void)map.open(api);
  const LibraryMap::Closure closure = map.closure(install_library_folder() / "libtenon_core.so.1");
  EXPECT_TRUE(map.is_open(*closure.libraries.at(1)));
  EXPECT_FALSE(map.is_open(*closure.libraries.at(0)));
}

TEST(LoaderCache, HoldsTheLibrariesThatLdconfigFound) {
  if (!fs::exists("/etc/ld.so.cache")) GTEST_SKIP() << "no /etc/ld.so.cache";
  const std::string bytes = read_text("/etc/ld.so.cache", ErrorCode::kPlugin);
  const auto files = parse_loader_cache(bytes);
  ASSERT_TRUE(files.contains("libc.so.6"));
  EXPECT_TRUE(fs::exists(files.at("libc.so.6")));
  const std::string_view all = bytes;
  for (std::size_t size = 0; size < 200; ++size) EXPECT_TRUE(parse_loader_cache(all.substr(0, size)).size() < 200);
  EXPECT_TRUE(parse_loader_cache("something else").empty());
}

}  // namespace
}  // namespace tenon::core
