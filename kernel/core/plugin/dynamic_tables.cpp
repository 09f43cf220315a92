// Layout: System V ABI, chapter "Dynamic Linking", and the GNU extensions for versions as glibc reads them.
#include <core/plugin/dynamic_tables.hpp>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <core/plugin/elf.hpp>
#include <core/plugin/refusal.hpp>

namespace tenon::core {
namespace {

constexpr uint64_t kMaxTable = uint64_t{256} << 20;
constexpr uint16_t kVersionMask = 0x7fff;  // so there are no more versions than that
constexpr std::size_t kLongestName = 1 << 16;
constexpr uint64_t kOverlap = 16;  // linkers let a name end within a longer one, hardly ever so often

}  // namespace

DynamicTables::DynamicTables(const std::filesystem::path& path) : pages_(path) {
  const auto header = at<Elf64_Ehdr>(0);
  if (header.e_phnum == 0) return;
  if (header.e_phentsize != sizeof(Elf64_Phdr)) throw damaged_tables("program headers have an unknown size");
  std::optional<Elf64_Phdr> dynamic;
  for (const Elf64_Phdr& each : list<Elf64_Phdr>(header.e_phoff, header.e_phnum)) {
    if (each.p_type == PT_LOAD) loads_.push_back(each);
    if (each.p_type == PT_DYNAMIC) dynamic = each;
    if (each.p_type == PT_GNU_STACK) executable_stack = (each.p_flags & PF_X) != 0;
  }
  if (dynamic) read_dynamic(*dynamic);
}

void DynamicTables::require_within(uint64_t offset, uint64_t count, std::size_t size) const {
  if (count > kMaxTable / size) throw damaged_tables("a table is too large");
  if (offset > pages_.size() || count * size > pages_.size() - offset) {
    throw Refusal("truncated", fmt::format("it was cut off: a table of {} bytes should be at byte {}, but the file has "
                                           "{}; build or copy it again",
                                           count * size, offset, pages_.size()));
  }
}

/// Where the bytes lie that the loader would put at an address.
uint64_t DynamicTables::offset_of(uint64_t address) const {
  for (const Elf64_Phdr& each : loads_) {
    if (address >= each.p_vaddr && address - each.p_vaddr < each.p_filesz) {
      return each.p_offset + (address - each.p_vaddr);
    }
  }
  throw damaged_tables("a table lies outside all that is loaded");
}

std::string DynamicTables::text(uint64_t offset) const {
  if (offset >= strings_size_) throw damaged_tables("a name lies outside its string table");
  std::string name;
  uint64_t place = strings_ + offset;
  while (name.size() < kLongestName) {
    const std::span<const std::byte> bytes = pages_.piece(place);
    if (bytes.empty()) break;
    const std::string_view piece(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t end = piece.find('\0');
    name.append(piece.substr(0, end));
    if (end != std::string_view::npos) {
      given_ += name.size();
      if (given_ > kOverlap * (strings_size_ + FilePages::kPage)) throw damaged_tables("its names lie over each other");
      return name;
    }
    place += piece.size();
  }
  throw damaged_tables("a name does not end");
}

bool DynamicTables::is_text(uint64_t offset, std::string_view wanted) const {
  if (offset >= strings_size_ || wanted.size() >= strings_size_ - offset) return false;
  std::string bytes(wanted.size() + 1, '\0');
  pages_.read(strings_ + offset, std::as_writable_bytes(std::span(bytes)));
  return bytes.back() == '\0' && bytes.starts_with(wanted);
}

void DynamicTables::read_dynamic(const Elf64_Phdr& segment) {
  std::vector<uint64_t> needed_at;
  std::optional<uint64_t> soname_at, rpath_at, runpath_at;
  for (const Elf64_Dyn& entry : list<Elf64_Dyn>(segment.p_offset, segment.p_filesz / sizeof(Elf64_Dyn))) {
    const uint64_t value = entry.d_un.d_val;
    if (entry.d_tag == DT_NULL) break;
    switch (entry.d_tag) {
      case DT_NEEDED: needed_at.push_back(value); break;
      case DT_SONAME: soname_at = value; break;
      case DT_RPATH: rpath_at = value; break;
      case DT_RUNPATH: runpath_at = value; break;
      case DT_STRTAB: strings_ = offset_of(value); break;
      case DT_STRSZ: strings_size_ = value; break;
      case DT_SYMTAB: symbols = offset_of(value); break;
      case DT_HASH: hash = offset_of(value); break;
      case DT_GNU_HASH: gnu_hash = offset_of(value); break;
      case DT_VERSYM: versions = offset_of(value); break;
      case DT_VERDEF: offered_ = offset_of(value); break;
      case DT_VERDEFNUM: offered_count_ = value; break;
      case DT_VERNEED: demanded_ = offset_of(value); break;
      case DT_VERNEEDNUM: demanded_count_ = value; break;
      case DT_RELA: relocations = offset_of(value); break;
      case DT_RELASZ: relocations_size = value; break;
      case DT_JMPREL: plt_relocations = offset_of(value); break;
      case DT_PLTRELSZ: plt_relocations_size = value; break;
      case DT_TEXTREL: text_relocations = true; break;
      case DT_SYMBOLIC: symbolic = true; break;
      case DT_FLAGS:
        text_relocations = text_relocations || (value & DF_TEXTREL) != 0;
        symbolic = symbolic || (value & DF_SYMBOLIC) != 0;
        break;
      case DT_FLAGS_1: nodelete = (value & DF_1_NODELETE) != 0; break;
      default: break;
    }
  }
  for (const uint64_t place : needed_at) needed.push_back(text(place));
  if (soname_at) soname = text(*soname_at);
  if (runpath_at) runpath = text(*runpath_at);
  if (rpath_at && !runpath_at) rpath = text(*rpath_at);
  read_offered();
  read_demanded();
}

/// Entries may overlap in a damaged file, so that their number is bounded by nothing else.
void DynamicTables::add_version(uint16_t index, const std::string& name) {
  if (offered.size() + demanded.size() > kVersionMask) throw damaged_tables("it has too many symbol versions");
  version_names[index & kVersionMask] = name;
}

void DynamicTables::read_offered() {
  uint64_t place = offered_;
  for (uint64_t i = 0; place != 0 && i < std::min<uint64_t>(offered_count_, kVersionMask); ++i) {
    const auto entry = at<Elf64_Verdef>(place);
    if ((entry.vd_flags & VER_FLG_BASE) == 0 && entry.vd_cnt > 0) {
      offered.push_back(text(at<Elf64_Verdaux>(place + entry.vd_aux).vda_name));
      add_version(entry.vd_ndx, offered.back());
    }
    if (entry.vd_next == 0) break;
    place += entry.vd_next;
  }
}

void DynamicTables::read_demanded() {
  uint64_t place = demanded_;
  for (uint64_t i = 0; place != 0 && i < std::min<uint64_t>(demanded_count_, kVersionMask); ++i) {
    const auto entry = at<Elf64_Verneed>(place);
    const std::string library = text(entry.vn_file);
    uint64_t inner = place + entry.vn_aux;
    for (uint16_t j = 0; j < entry.vn_cnt; ++j) {
      const auto version = at<Elf64_Vernaux>(inner);
      demanded.push_back({library, text(version.vna_name), (version.vna_flags & VER_FLG_WEAK) != 0});
      add_version(version.vna_other, demanded.back().version);
      if (version.vna_next == 0) break;
      inner += version.vna_next;
    }
    if (entry.vn_next == 0) break;
    place += entry.vn_next;
  }
}

}  // namespace tenon::core
