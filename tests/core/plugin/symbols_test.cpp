// Dynamic symbols as the loader sees them, on the libraries that this program itself is linked to.
#include <core/plugin/symbols.hpp>

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/plugin/made_plugin.hpp>
#include <core/plugin/mangled_names.hpp>
#include <core/plugin/refusal.hpp>
#include <rounds.hpp>
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

Elf64_Dyn entry(int64_t tag, uint64_t value) {
  Elf64_Dyn dynamic = {};
  dynamic.d_tag = tag;
  dynamic.d_un.d_val = value;
  return dynamic;
}

/// A library without sections. `dynamic` is made with the addresses of the texts and of what comes behind them.
template <class MakeDynamic>
std::string library_of(const std::string& texts, const std::string& behind, const MakeDynamic& make_dynamic) {
  std::string file = made_library({}).substr(0, sizeof(Elf64_Ehdr));
  const std::size_t count = make_dynamic(0, 0).size();
  const uint64_t place = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  const uint64_t texts_at = place + count * sizeof(Elf64_Dyn);
  Elf64_Phdr load = {};
  load.p_type = PT_LOAD;
  load.p_filesz = load.p_memsz = texts_at + texts.size() + behind.size();
  Elf64_Phdr dynamic = {};
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = dynamic.p_vaddr = place;
  dynamic.p_filesz = count * sizeof(Elf64_Dyn);
  Elf64_Ehdr header = {};
  std::memcpy(&header, file.data(), sizeof header);
  header.e_shoff = 0;
  header.e_phoff = sizeof header;
  header.e_phnum = 2;
  header.e_phentsize = sizeof(Elf64_Phdr);
  file = bytes_as_text(header) + bytes_as_text(load) + bytes_as_text(dynamic);
  for (const Elf64_Dyn& each : make_dynamic(texts_at, texts_at + texts.size())) file += bytes_as_text(each);
  return file + texts + behind;
}

std::string refused(const std::string& library) {
  const TemporaryFolder folder;
  put(folder.path() / "made.so", library);
  try {
    (void)DynamicImage(folder.path() / "made.so");
    return {};
  } catch (const Refusal& refusal) {
    return refusal.reason();
  }
}

TEST(DynamicImage, ReadsNamesFromTheDynamicSection) {
  const std::string texts("\0libc10.so\0libm.so.6\0me.so.1\0", 29);
  const TemporaryFolder folder;
  put(folder.path() / "made.so", library_of(texts, "", [&](uint64_t at, uint64_t) {
        return std::vector{entry(DT_NEEDED, 1),  entry(DT_NEEDED, 11),          entry(DT_SONAME, 21),
                           entry(DT_STRTAB, at), entry(DT_STRSZ, texts.size()), entry(DT_NULL, 0),
                           entry(DT_NEEDED, 99)};
      }));
  const DynamicImage image(folder.path() / "made.so");
  EXPECT_EQ(image.needed(), (std::vector<std::string>{"libc10.so", "libm.so.6"}));
  EXPECT_EQ(image.soname(), "me.so.1");
}

TEST(DynamicImage, RefusesNamesThatLie) {
  const auto library = [](uint64_t name, uint64_t size) {
    return library_of("ab", "", [&](uint64_t at, uint64_t) {
      return std::vector{entry(DT_NEEDED, name), entry(DT_STRTAB, at), entry(DT_STRSZ, size)};
    });
  };
  EXPECT_EQ(refused(library(UINT64_MAX, 2)), "corrupt");
  EXPECT_EQ(refused(library(2, 2)), "corrupt");
  EXPECT_EQ(refused(library(1, UINT64_MAX)), "corrupt");  // it does not end
  EXPECT_EQ(refused(library_of("ab", "", [](uint64_t, uint64_t) { return std::vector{entry(DT_STRTAB, 1U << 30U)}; })),
            "corrupt");
}

TEST(DynamicImage, IsNotHeldUpByNamesThatLieOverEachOther) {
  const std::string texts = std::string(60'000, 'a') + '\0';
  const std::string library = library_of(texts, "", [&](uint64_t at, uint64_t) {
    std::vector<Elf64_Dyn> dynamic{entry(DT_STRTAB, at), entry(DT_STRSZ, texts.size())};
    for (uint64_t i = 0; i < 50'000; ++i) dynamic.push_back(entry(DT_NEEDED, i));
    return dynamic;
  });
  EXPECT_EQ(refused(library), "corrupt");
}

TEST(DynamicImage, IsNotHeldUpByVersionsThatLieOverEachOther) {
  // Each of these says of itself, as an entry and as a part of one: there are many more, and the next is right here.
  const Elf64_Verneed both{1, UINT16_MAX, 0, sizeof(Elf64_Verneed), sizeof(Elf64_Verneed)};
  std::string versions;
  for (int i = 0; i < 60'000; ++i) versions += bytes_as_text(both);
  const std::string texts(
      "\0"
      "0123456789abcdef\0",
      18);
  const std::string library = library_of(texts, versions, [&](uint64_t at, uint64_t behind) {
    return std::vector{entry(DT_STRTAB, at), entry(DT_STRSZ, texts.size()), entry(DT_VERNEED, behind),
                       entry(DT_VERNEEDNUM, 60'000)};
  });
  EXPECT_EQ(refused(library), "corrupt");
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
  for (int i = 0; i < test::rounds(200); ++i) {
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
