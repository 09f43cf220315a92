// Dynamic sections, symbol and hash tables by bounded reads. Layout: System V ABI, chapter "Dynamic Linking", and the
// GNU extensions for hashing and versions as glibc reads them.
#include <core/plugin/symbols.hpp>

#include <elf.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <core/plugin/elf.hpp>
#include <core/plugin/refusal.hpp>

namespace tenon::core {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxTable = uint64_t{256} << 20;
constexpr uint16_t kVersionMask = 0x7fff;
constexpr uint16_t kHiddenVersion = 0x8000;
constexpr std::size_t kLongestName = 1 << 16;

Refusal corrupt(const std::string& what) {
  return {"corrupt", fmt::format("its ELF tables are damaged: {}; build or copy it again", what)};
}

uint32_t gnu_hash(std::string_view name) noexcept {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

uint32_t sysv_hash(std::string_view name) noexcept {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const uint32_t high = hash & 0xf0000000U;
    hash ^= high >> 24;
    hash &= ~high;
  }
  return hash;
}

/// The file's bytes, read page by page and kept: hash look-ups touch a few pages of a large file.
class Pages {
 public:
  explicit Pages(std::filesystem::path path) : path_(std::move(path)) {
    try {
      OpenedFile opened = open_for_reading(path_, ErrorCode::kPlugin);
      file_ = std::move(opened.file);
      size_ = opened.size;
    } catch (const Error& error) {
      throw Refusal("unreadable", error.what());
    }
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] uint64_t size() const noexcept { return size_; }

  void read(uint64_t offset, std::span<std::byte> into) const {
    if (offset > size_ || into.size() > size_ - offset) {
      throw Refusal("truncated", fmt::format("it was cut off: {} bytes should be at byte {}, but the file has {}; "
                                             "build or copy it again",
                                             into.size(), offset, size_));
    }
    if (into.size() > kPage) return read_file(offset, into);
    while (!into.empty()) {
      const std::vector<std::byte>& page = page_of(offset / kPage);
      const auto start = static_cast<std::size_t>(offset % kPage);
      const std::size_t count = std::min(into.size(), page.size() - start);
      std::memcpy(into.data(), page.data() + start, count);
      into = into.subspan(count);
      offset += count;
    }
  }

 private:
  void read_file(uint64_t offset, std::span<std::byte> into) const {
    try {
      read_at(file_, offset, into, path_, ErrorCode::kPlugin);
    } catch (const Error& error) {
      throw Refusal("unreadable", error.what());
    }
  }

  [[nodiscard]] const std::vector<std::byte>& page_of(uint64_t number) const {
    const auto [found, is_new] = pages_.try_emplace(number);
    if (is_new) {
      found->second.resize(static_cast<std::size_t>(std::min(kPage, size_ - number * kPage)));
      read_file(number * kPage, found->second);
    }
    return found->second;
  }

  std::filesystem::path path_;
  FileDescriptor file_;
  uint64_t size_ = 0;
  mutable std::unordered_map<uint64_t, std::vector<std::byte>> pages_;
};

struct Tables {
  uint64_t strings = 0, strings_size = 0;
  uint64_t symbols = 0;
  uint64_t hash = 0, gnu = 0;
  uint64_t versions = 0;
  uint64_t offered = 0, offered_count = 0;
  uint64_t demanded = 0, demanded_count = 0;
  uint64_t rela = 0, rela_size = 0;
  uint64_t plt = 0, plt_size = 0;
};

}  // namespace

struct DynamicImage::State {
  explicit State(const std::filesystem::path& path) : pages(path) {}

  template <class T>
  [[nodiscard]] T at(uint64_t offset) const {
    T value{};
    pages.read(offset, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  template <class T>
  [[nodiscard]] std::vector<T> list(uint64_t offset, uint64_t count) const {
    if (count > kMaxTable / sizeof(T)) throw corrupt("a table is too large");
    std::vector<T> values(static_cast<std::size_t>(count));
    if (!values.empty()) pages.read(offset, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Where the bytes lie that the loader would put at an address.
  [[nodiscard]] uint64_t offset_of(uint64_t address) const {
    for (const Elf64_Phdr& each : loads) {
      if (address >= each.p_vaddr && address - each.p_vaddr < each.p_filesz) {
        return each.p_offset + (address - each.p_vaddr);
      }
    }
    throw corrupt("a table lies outside all that is loaded");
  }

  [[nodiscard]] std::string text(uint64_t offset) const {
    if (offset >= tables.strings_size) throw corrupt("a name lies outside its string table");
    std::string name;
    uint64_t place = tables.strings + offset;
    while (name.size() < kLongestName) {
      const uint64_t count = std::min(kPage - place % kPage, pages.size() - std::min(place, pages.size()));
      if (count == 0) break;
      std::array<char, kPage> bytes{};
      const std::span<char> piece(bytes.data(), static_cast<std::size_t>(count));
      pages.read(place, std::as_writable_bytes(piece));
      const auto end = std::ranges::find(piece, '\0');
      name.append(piece.begin(), end);
      if (end != piece.end()) return name;
      place += count;
    }
    throw corrupt("a name does not end");
  }

  /// Whether the text at an offset of the string table is this one; reads no more than needed.
  [[nodiscard]] bool is_text(uint64_t offset, std::string_view wanted) const {
    if (offset >= tables.strings_size || wanted.size() >= tables.strings_size - offset) return false;
    std::string bytes(wanted.size() + 1, '\0');
    pages.read(tables.strings + offset, std::as_writable_bytes(std::span(bytes)));
    return bytes.back() == '\0' && bytes.starts_with(wanted);
  }

  void read_headers();
  void read_dynamic(const Elf64_Phdr& segment);
  void read_versions();
  void read_symbols();
  [[nodiscard]] uint64_t count_symbols() const;
  [[nodiscard]] std::unordered_set<uint32_t> relocated() const;
  [[nodiscard]] Definition fits(uint32_t index, std::string_view name, std::string_view version) const;
  [[nodiscard]] Definition find_gnu(std::string_view name, std::string_view version) const;
  [[nodiscard]] Definition find_sysv(std::string_view name, std::string_view version) const;

  Pages pages;
  std::vector<Elf64_Phdr> loads;
  Tables tables;
  std::vector<std::string> needed;
  std::string soname, rpath, runpath;
  bool executable_stack = true;  // the kernel's default where nothing is said
  bool text_relocations = false;
  bool nodelete = false;
  bool symbolic = false;

  bool has_symbols = false;
  std::vector<DynamicSymbol> undefined, defined;
  std::vector<DemandedVersion> demanded;
  std::vector<std::string> offered;
  std::unordered_map<uint16_t, std::string> version_names;  // by index, of both kinds

  // The GNU table's small parts.
  uint32_t buckets = 0, first = 0, shift = 0, chains_of_sysv = 0;
  std::vector<uint64_t> bloom;
  uint64_t bucket_table = 0, chain_table = 0;
};

void DynamicImage::State::read_headers() {
  const auto header = at<Elf64_Ehdr>(0);
  if (header.e_phnum == 0) return;
  if (header.e_phentsize != sizeof(Elf64_Phdr)) throw corrupt("program headers have an unknown size");
  std::optional<Elf64_Phdr> dynamic;
  for (const Elf64_Phdr& each : list<Elf64_Phdr>(header.e_phoff, header.e_phnum)) {
    if (each.p_type == PT_LOAD) loads.push_back(each);
    if (each.p_type == PT_DYNAMIC) dynamic = each;
    if (each.p_type == PT_GNU_STACK) executable_stack = (each.p_flags & PF_X) != 0;
  }
  if (dynamic) read_dynamic(*dynamic);
}

void DynamicImage::State::read_dynamic(const Elf64_Phdr& segment) {
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
      case DT_STRTAB: tables.strings = offset_of(value); break;
      case DT_STRSZ: tables.strings_size = value; break;
      case DT_SYMTAB: tables.symbols = offset_of(value); break;
      case DT_HASH: tables.hash = offset_of(value); break;
      case DT_GNU_HASH: tables.gnu = offset_of(value); break;
      case DT_VERSYM: tables.versions = offset_of(value); break;
      case DT_VERDEF: tables.offered = offset_of(value); break;
      case DT_VERDEFNUM: tables.offered_count = value; break;
      case DT_VERNEED: tables.demanded = offset_of(value); break;
      case DT_VERNEEDNUM: tables.demanded_count = value; break;
      case DT_RELA: tables.rela = offset_of(value); break;
      case DT_RELASZ: tables.rela_size = value; break;
      case DT_JMPREL: tables.plt = offset_of(value); break;
      case DT_PLTRELSZ: tables.plt_size = value; break;
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
  if (tables.gnu != 0) {
    const auto head = list<uint32_t>(tables.gnu, 4);
    buckets = head[0];
    first = head[1];
    shift = head[3];
    if (buckets == 0 || head[2] == 0) throw corrupt("its hash table is empty");
    bloom = list<uint64_t>(tables.gnu + 4 * sizeof(uint32_t), head[2]);
    bucket_table = tables.gnu + 4 * sizeof(uint32_t) + uint64_t{head[2]} * sizeof(uint64_t);
    chain_table = bucket_table + uint64_t{buckets} * sizeof(uint32_t);
  } else if (tables.hash != 0) {
    const auto head = list<uint32_t>(tables.hash, 2);
    buckets = head[0];
    chains_of_sysv = head[1];
    if (buckets == 0) throw corrupt("its hash table is empty");
  }
  read_versions();
}

void DynamicImage::State::read_versions() {
  uint64_t place = tables.offered;
  for (uint64_t i = 0; place != 0 && i < tables.offered_count; ++i) {
    const auto entry = at<Elf64_Verdef>(place);
    if ((entry.vd_flags & VER_FLG_BASE) == 0 && entry.vd_cnt > 0) {
      std::string name = text(at<Elf64_Verdaux>(place + entry.vd_aux).vda_name);
      version_names[entry.vd_ndx & kVersionMask] = name;
      offered.push_back(std::move(name));
    }
    if (entry.vd_next == 0) break;
    place += entry.vd_next;
  }
  place = tables.demanded;
  for (uint64_t i = 0; place != 0 && i < tables.demanded_count; ++i) {
    const auto entry = at<Elf64_Verneed>(place);
    const std::string library = text(entry.vn_file);
    uint64_t inner = place + entry.vn_aux;
    for (uint16_t j = 0; j < entry.vn_cnt; ++j) {
      const auto version = at<Elf64_Vernaux>(inner);
      std::string name = text(version.vna_name);
      version_names[version.vna_other & kVersionMask] = name;
      demanded.push_back({library, std::move(name), (version.vna_flags & VER_FLG_WEAK) != 0});
      if (version.vna_next == 0) break;
      inner += version.vna_next;
    }
    if (entry.vn_next == 0) break;
    place += entry.vn_next;
  }
}

uint64_t DynamicImage::State::count_symbols() const {
  if (tables.hash != 0) return at<uint32_t>(tables.hash + sizeof(uint32_t));
  if (tables.gnu == 0) return 0;
  uint32_t last = 0;
  for (const uint32_t bucket : list<uint32_t>(bucket_table, buckets)) last = std::max(last, bucket);
  if (last < first) return first;
  while ((at<uint32_t>(chain_table + uint64_t{last - first} * sizeof(uint32_t)) & 1) == 0) ++last;
  return uint64_t{last} + 1;
}

std::unordered_set<uint32_t> DynamicImage::State::relocated() const {
  std::unordered_set<uint32_t> symbols;
  const auto take = [&](uint64_t offset, uint64_t size) {
    if (offset == 0) return;
    for (const Elf64_Rela& each : list<Elf64_Rela>(offset, size / sizeof(Elf64_Rela))) {
      if (const auto symbol = static_cast<uint32_t>(ELF64_R_SYM(each.r_info)); symbol != 0) symbols.insert(symbol);
    }
  };
  take(tables.rela, tables.rela_size);
  take(tables.plt, tables.plt_size);
  return symbols;
}

void DynamicImage::State::read_symbols() {
  if (std::exchange(has_symbols, true) || tables.symbols == 0) return;
  const uint64_t count = count_symbols();
  const auto symbols = list<Elf64_Sym>(tables.symbols, count);
  const auto versions = tables.versions == 0 ? std::vector<uint16_t>() : list<uint16_t>(tables.versions, count);
  const std::unordered_set<uint32_t> bound = relocated();
  for (uint32_t i = 1; i < symbols.size(); ++i) {
    const Elf64_Sym& symbol = symbols[i];
    const auto binding = ELF64_ST_BIND(symbol.st_info);
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (binding == STB_LOCAL || type == STT_SECTION || type == STT_FILE) continue;
    if (symbol.st_shndx != SHN_UNDEF && visibility != STV_DEFAULT && visibility != STV_PROTECTED) continue;
    DynamicSymbol entry{text(symbol.st_name), {}, binding != STB_GLOBAL, bound.contains(i)};
    if (i < versions.size()) {
      const auto name = version_names.find(versions[i] & kVersionMask);
      if (name != version_names.end()) entry.version = name->second;
    }
    if (visibility == STV_PROTECTED) entry.bound = false;  // its own definition is taken in any case
    (symbol.st_shndx == SHN_UNDEF ? undefined : defined).push_back(std::move(entry));
  }
}

/// As glibc's check_match().
Definition DynamicImage::State::fits(uint32_t index, std::string_view name, std::string_view version) const {
  const auto symbol = at<Elf64_Sym>(tables.symbols + uint64_t{index} * sizeof(Elf64_Sym));
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if (symbol.st_shndx == SHN_UNDEF || (symbol.st_value == 0 && symbol.st_shndx != SHN_ABS && type != STT_TLS)) {
    return Definition::kNone;
  }
  const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || (visibility != STV_DEFAULT && visibility != STV_PROTECTED)) {
    return Definition::kNone;
  }
  if (!is_text(symbol.st_name, name)) return Definition::kNone;
  const Definition found = ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL ? Definition::kStrong : Definition::kVague;
  if (tables.versions == 0) return found;
  const auto raw = at<uint16_t>(tables.versions + uint64_t{index} * sizeof(uint16_t));
  const uint16_t number = raw & kVersionMask;
  const bool hidden = (raw & kHiddenVersion) != 0;
  if (version.empty()) return number < 3 || !hidden ? found : Definition::kNone;
  const auto own = version_names.find(number);
  if (own == version_names.end()) return hidden ? Definition::kNone : found;
  return own->second == version ? found : Definition::kNone;
}

Definition DynamicImage::State::find_gnu(std::string_view name, std::string_view version) const {
  constexpr uint32_t kBits = 64;
  const uint32_t hash = gnu_hash(name);
  const uint64_t word = bloom[(hash / kBits) % bloom.size()];
  if (((word >> (hash % kBits)) & (word >> ((hash >> (shift % 32)) % kBits)) & 1) == 0) return Definition::kNone;
  auto index = at<uint32_t>(bucket_table + uint64_t{hash % buckets} * sizeof(uint32_t));
  if (index == 0) return Definition::kNone;
  if (index < first) throw corrupt("its hash table points nowhere");
  while (true) {
    const auto link = at<uint32_t>(chain_table + uint64_t{index - first} * sizeof(uint32_t));
    if ((link | 1) == (hash | 1)) {
      if (const Definition found = fits(index, name, version); found != Definition::kNone) return found;
    }
    if ((link & 1) != 0) return Definition::kNone;
    ++index;
  }
}

Definition DynamicImage::State::find_sysv(std::string_view name, std::string_view version) const {
  const uint64_t start = tables.hash + 2 * sizeof(uint32_t);
  auto index = at<uint32_t>(start + uint64_t{sysv_hash(name) % buckets} * sizeof(uint32_t));
  for (uint32_t steps = 0; index != 0; ++steps) {
    if (index >= chains_of_sysv || steps > chains_of_sysv) throw corrupt("its hash table runs in circles");
    if (const Definition found = fits(index, name, version); found != Definition::kNone) return found;
    index = at<uint32_t>(start + (uint64_t{buckets} + index) * sizeof(uint32_t));
  }
  return Definition::kNone;
}

DynamicImage::DynamicImage(const std::filesystem::path& path) {
  (void)ElfFile(path);  // refuses what is no library of this machine
  state_ = std::make_unique<State>(path);
  state_->read_headers();
}

DynamicImage::~DynamicImage() = default;
DynamicImage::DynamicImage(DynamicImage&&) noexcept = default;
DynamicImage& DynamicImage::operator=(DynamicImage&&) noexcept = default;

const std::filesystem::path& DynamicImage::path() const noexcept { return state_->pages.path(); }
const std::vector<std::string>& DynamicImage::needed() const noexcept { return state_->needed; }
const std::string& DynamicImage::soname() const noexcept { return state_->soname; }
const std::string& DynamicImage::rpath() const noexcept { return state_->rpath; }
const std::string& DynamicImage::runpath() const noexcept { return state_->runpath; }
bool DynamicImage::executable_stack() const noexcept { return state_->executable_stack; }
bool DynamicImage::text_relocations() const noexcept { return state_->text_relocations; }
bool DynamicImage::nodelete() const noexcept { return state_->nodelete; }
bool DynamicImage::symbolic() const noexcept { return state_->symbolic; }

const std::vector<DynamicSymbol>& DynamicImage::undefined() const {
  state_->read_symbols();
  return state_->undefined;
}

const std::vector<DynamicSymbol>& DynamicImage::defined() const {
  state_->read_symbols();
  return state_->defined;
}

const std::vector<DemandedVersion>& DynamicImage::demanded_versions() const { return state_->demanded; }
const std::vector<std::string>& DynamicImage::offered_versions() const { return state_->offered; }

Definition DynamicImage::find(std::string_view name, std::string_view version) const {
  if (state_->tables.symbols == 0) return Definition::kNone;
  if (!state_->bloom.empty()) return state_->find_gnu(name, version);
  return state_->buckets == 0 ? Definition::kNone : state_->find_sysv(name, version);
}

}  // namespace tenon::core
