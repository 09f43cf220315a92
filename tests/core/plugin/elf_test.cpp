// Facts from ELF files, and files that lie.
#include <core/plugin/elf.hpp>

#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <core/plugin/made_plugin.hpp>
#include <core/plugin/refusal.hpp>
#include <rounds.hpp>

namespace tenon::core {
namespace {

/// A file in memory whose bytes are changed in place.
class MemoryFile {
 public:
  explicit MemoryFile(std::string content) : content_(std::move(content)), file_(::memfd_create("elf", MFD_CLOEXEC)) {
    put(0, content_.size());
  }
  [[nodiscard]] std::filesystem::path path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }
  [[nodiscard]] const std::string& content() const noexcept { return content_; }
  void set(size_t place, char byte) { EXPECT_EQ(::pwrite(file_.get(), &byte, 1, static_cast<off_t>(place)), 1); }
  void cut(size_t length) { EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(length)), 0); }
  void put(size_t begin, size_t end) {
    const auto size = static_cast<ssize_t>(end - begin);
    EXPECT_EQ(::pwrite(file_.get(), content_.data() + begin, end - begin, static_cast<off_t>(begin)), size);
  }

 private:
  std::string content_;
  FileDescriptor file_;
};

/// Reads all that can be asked; returns the reason of the refusal, or empty.
std::string read_all(const std::filesystem::path& path) {
  try {
    const ElfFile file(path);
    (void)file.section(".tenon.manifest");
    (void)file.section(".text");
    (void)file.build_id();
    return {};
  } catch (const Refusal& refusal) {
    EXPECT_STRNE(refusal.what(), "");
    return refusal.reason();
  }
}

std::string read_bytes(const std::string& bytes) { return read_all(MemoryFile(bytes).path()); }

const std::filesystem::path kLibrary = TENON_BUILD_DIR "/lib/libtenon_api.so.1";

TEST(ElfFile, tells_the_facts_of_a_real_library) {
  const ElfFile file(kLibrary);
  EXPECT_EQ(file.path(), kLibrary);
  EXPECT_TRUE(file.section(".text").has_value());
  EXPECT_FALSE(file.section(".tenon.manifest").has_value());
  EXPECT_EQ(file.section("").value_or(""), "");
}

TEST(ElfFile, reads_sections_and_build_id) {
  const std::string note = bytes_as_text(Elf64_Nhdr{4, 3, NT_GNU_BUILD_ID}) + std::string("GNU\0\xAB\x01\xFF\0", 8);
  const MemoryFile memory(made_library({{".tenon.manifest", "{}"}, {".note.gnu.build-id", note, SHT_NOTE}}));
  const ElfFile file(memory.path());
  EXPECT_EQ(file.section(".tenon.manifest"), "{}");
  EXPECT_EQ(file.build_id(), "ab01ff");
}

TEST(ElfFile, says_what_a_file_is_not) {
  EXPECT_EQ(read_bytes(""), "truncated");
  EXPECT_EQ(read_bytes("x"), "not-elf");
  EXPECT_EQ(read_bytes("#!/bin/sh\necho no plugin, although its name ends so; long enough for a header\n"), "not-elf");
  EXPECT_EQ(read_bytes("\x7f"
                       "ELF"),
            "truncated");
  EXPECT_EQ(read_all("/no/such/file.so"), "unreadable");
  EXPECT_EQ(read_all("/tmp"), "unreadable");
  EXPECT_EQ(read_all("/dev/zero"), "unreadable");
  const std::string good = made_library({});
  EXPECT_EQ(read_bytes(good), "");
  const auto with = [&good](size_t place, char byte) {
    std::string changed = good;
    changed[place] = byte;
    return read_bytes(changed);
  };
  EXPECT_EQ(with(EI_CLASS, ELFCLASS32), "architecture");
  EXPECT_EQ(with(EI_DATA, ELFDATA2MSB), "architecture");
  EXPECT_EQ(with(offsetof(Elf64_Ehdr, e_machine), EM_RISCV & 0x7f), "architecture");
  EXPECT_EQ(with(offsetof(Elf64_Ehdr, e_type), ET_EXEC), "not-elf");
  EXPECT_EQ(with(offsetof(Elf64_Ehdr, e_shentsize), 1), "corrupt");
  EXPECT_EQ(with(offsetof(Elf64_Ehdr, e_shstrndx), 9), "corrupt");
  EXPECT_EQ(with(offsetof(Elf64_Ehdr, e_shoff) + 7, 0x7f), "truncated");
}

TEST(ElfFile, refuses_sections_that_lie) {
  const auto library_with = [](const MadeSection& section) { return made_library({section}); };
  EXPECT_EQ(read_bytes(library_with({".tenon.manifest", "", SHT_NOBITS})), "corrupt");
  EXPECT_EQ(read_bytes(library_with({".note.gnu.build-id", "short", SHT_NOTE})), "corrupt");
  EXPECT_EQ(read_bytes(library_with({".note.gnu.build-id", std::string(16, '\xff'), SHT_NOTE})), "corrupt");
  EXPECT_EQ(read_bytes(library_with({std::string(5000, 'x'), "a name that no section has"})), "corrupt");
}

TEST(ElfFile, survives_five_thousand_damaged_libraries) {
  MemoryFile memory(content_of(kLibrary));
  const std::string& whole = memory.content();
  Elf64_Ehdr header = {};
  std::memcpy(&header, whole.data(), sizeof header);
  const auto table = static_cast<size_t>(header.e_shoff);
  std::mt19937_64 random(3);
  const auto between = [&random](size_t begin, size_t end) {
    return begin + static_cast<size_t>(random() % (end - begin));
  };
  int refused = 0;
  for (int round = 0; round < test::rounds(5'000); ++round) {
    if (round % 5 == 0) {
      memory.cut(between(0, whole.size()));
    } else {
      for (size_t change = 0; change < 3; ++change) {  // mostly where offsets and sizes are
        const size_t place = round % 5 == 1   ? between(0, sizeof header)
                             : round % 5 <= 3 ? between(table, whole.size())
                                              : between(0, whole.size());
        memory.set(place, static_cast<char>(random()));
      }
    }
    refused += read_all(memory.path()).empty() ? 0 : 1;
    memory.put(0, whole.size());
  }
  EXPECT_GT(refused, test::rounds(1'000));
  EXPECT_EQ(read_all(memory.path()), "");
}

}  // namespace
}  // namespace tenon::core
