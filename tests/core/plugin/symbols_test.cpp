// Dynamic symbols as the loader sees them, on the libraries that this program itself is linked to.
#include <core/plugin/symbols.hpp>

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <algorithm>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include <core/plugin/made_plugin.hpp>
#include <core/plugin/mangled_names.hpp>
#include <core/plugin/refusal.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

std::filesystem::path library_with(const void* symbol) {
  Dl_info info{};
  EXPECT_NE(::dladdr(symbol, &info), 0);
  return std::filesystem::canonical(info.dli_fname);
}

const DynamicImage& c_library() {
  // A function that sanitizers leave to the library.
  static const DynamicImage image(library_with(reinterpret_cast<const void*>(&gnu_get_libc_version)));
  return image;
}

TEST(DynamicImage, FindsEverySymbolThatItLists) {
  const std::filesystem::path core = library_with(reinterpret_cast<const void*>(&outer_namespaces));
  const DynamicImage own(core);
  for (const DynamicImage* const each : {&c_library(), &own}) {
    const DynamicImage& image = *each;
    ASSERT_GT(image.defined().size(), 100U);
    for (const DynamicSymbol& symbol : image.defined()) {
      EXPECT_NE(image.find(symbol.name, symbol.version), Definition::kNone) << symbol.name << "@" << symbol.version;
    }
  }
}

TEST(DynamicImage, HasNoSymbolThatIsNotThere) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(c_library().find("surely_not_there_" + std::to_string(i)), Definition::kNone);
  }
  EXPECT_EQ(c_library().find(""), Definition::kNone);
}

TEST(DynamicImage, TellsVersionsApart) {
  EXPECT_EQ(c_library().find("memcpy", "GLIBC_9.99"), Definition::kNone);
  EXPECT_NE(c_library().find("memcpy"), Definition::kNone);
  const auto& offered = c_library().offered_versions();
  EXPECT_NE(std::ranges::find(offered, "GLIBC_2.17"), offered.end());
}

TEST(DynamicImage, KnowsWhatALibraryAsksFor) {
  const DynamicImage core(library_with(reinterpret_cast<const void*>(&outer_namespaces)));
  EXPECT_EQ(core.soname(), "libtenon_core.so.1");
  EXPECT_EQ(core.runpath(), "$ORIGIN");
  EXPECT_NE(std::ranges::find(core.needed(), "libtenon_api.so.1"), core.needed().end());
  const auto wanted =
      std::ranges::find_if(core.undefined(), [](const DynamicSymbol& symbol) { return symbol.name == "posix_spawn"; });
  ASSERT_NE(wanted, core.undefined().end());
  EXPECT_TRUE(wanted->version.starts_with("GLIBC_")) << wanted->version;
  EXPECT_TRUE(wanted->bound);
}

TEST(DynamicImage, SurvivesAnyDamageOfItsTables) {
  const TemporaryFolder folder;
  const std::string good =
      read_text(library_with(reinterpret_cast<const void*>(&outer_namespaces)), ErrorCode::kPlugin);
  uint32_t random = 7;
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    for (int j = 0; j < 16; ++j) {
      random = random * 1664525U + 1013904223U;
      bad[64 + (random >> 8) % 0x2000] = static_cast<char>(random);  // headers, hash and symbol tables lie there
    }
    put(folder.path() / "bad.so", bad);
    try {
      const DynamicImage image(folder.path() / "bad.so");
      (void)image.defined().size();
      for (const char* name : {"memcpy", "_ZN5tenon4core6sha256B5cxx11ESt17basic_string_viewIcSt11char_traitsIcEE"}) {
        (void)image.find(name);
      }
    } catch (const Refusal&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace tenon::core
