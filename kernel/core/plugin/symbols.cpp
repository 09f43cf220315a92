// Symbol and hash tables. Layout: System V ABI, chapter "Dynamic Linking", and the GNU extensions for hashing and
// versions as glibc reads them.
#include <core/plugin/symbols.hpp>

#include <elf.h>
#include <algorithm>
#include <unordered_set>
#include <utility>

#include <core/plugin/dynamic_tables.hpp>
#include <core/plugin/elf.hpp>

namespace tenon::core {
namespace {

constexpr uint16_t kVersionMask = 0x7fff;
constexpr uint16_t kHiddenVersion = 0x8000;

uint32_t gnu_hash_of(std::string_view name) noexcept {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

uint32_t sysv_hash_of(std::string_view name) noexcept {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const uint32_t high = hash & 0xf0000000U;
    hash ^= high >> 24;
    hash &= ~high;
  }
  return hash;
}

}  // namespace

SoughtSymbol::SoughtSymbol(std::string_view sought, std::string_view of_version) noexcept
    : name(sought), version(of_version), gnu_hash(gnu_hash_of(sought)) {}

struct DynamicImage::State {
  explicit State(const std::filesystem::path& path);

  void read_symbols();
  [[nodiscard]] uint64_t count_symbols() const;
  [[nodiscard]] std::unordered_set<uint32_t> relocated() const;
  [[nodiscard]] Definition fits(uint32_t index, std::string_view name, std::string_view version) const;
  [[nodiscard]] Definition find_gnu(const SoughtSymbol& symbol) const;
  [[nodiscard]] Definition find_sysv(std::string_view name, std::string_view version) const;

  DynamicTables tables;
  bool has_symbols = false;
  std::vector<DynamicSymbol> undefined, defined;

  // The hash table's small parts: GNU's where there is one.
  uint32_t buckets = 0, first = 0, shift = 0, chains_of_sysv = 0;
  std::vector<uint64_t> bloom;
  uint64_t bucket_table = 0, chain_table = 0;
};

DynamicImage::State::State(const std::filesystem::path& path) : tables(path) {
  if (tables.gnu_hash != 0) {
    constexpr uint64_t kWord = sizeof(uint32_t);
    const auto head = tables.list<uint32_t>(tables.gnu_hash, 4);
    buckets = head[0];
    first = head[1];
    shift = head[3];
    if (buckets == 0 || head[2] == 0) throw damaged_tables("its hash table is empty");
    bloom = tables.list<uint64_t>(tables.gnu_hash + 4 * kWord, head[2]);
    bucket_table = tables.gnu_hash + 4 * kWord + uint64_t{head[2]} * sizeof(uint64_t);
    chain_table = bucket_table + uint64_t{buckets} * kWord;
  } else if (tables.hash != 0) {
    const auto head = tables.list<uint32_t>(tables.hash, 2);
    buckets = head[0];
    chains_of_sysv = head[1];
    if (buckets == 0) throw damaged_tables("its hash table is empty");
  }
}

uint64_t DynamicImage::State::count_symbols() const {
  if (tables.hash != 0) return tables.at<uint32_t>(tables.hash + sizeof(uint32_t));
  if (tables.gnu_hash == 0) return 0;
  uint32_t last = 0;
  for (const uint32_t bucket : tables.list<uint32_t>(bucket_table, buckets)) last = std::max(last, bucket);
  if (last < first) return first;
  while ((tables.at<uint32_t>(chain_table + uint64_t{last - first} * sizeof(uint32_t)) & 1) == 0) ++last;
  return uint64_t{last} + 1;
}

std::unordered_set<uint32_t> DynamicImage::State::relocated() const {
  std::unordered_set<uint32_t> found;
  const auto take = [&](uint64_t offset, uint64_t size) {
    if (offset == 0) return;
    for (const Elf64_Rela& each : tables.list<Elf64_Rela>(offset, size / sizeof(Elf64_Rela))) {
      if (const auto symbol = static_cast<uint32_t>(ELF64_R_SYM(each.r_info)); symbol != 0) found.insert(symbol);
    }
  };
  take(tables.relocations, tables.relocations_size);
  take(tables.plt_relocations, tables.plt_relocations_size);
  return found;
}

void DynamicImage::State::read_symbols() {
  if (std::exchange(has_symbols, true) || tables.symbols == 0) return;
  const uint64_t count = count_symbols();
  const auto symbols = tables.list<Elf64_Sym>(tables.symbols, count);
  const auto versions = tables.versions == 0 ? std::vector<uint16_t>() : tables.list<uint16_t>(tables.versions, count);
  const std::unordered_set<uint32_t> bound = relocated();
  for (uint32_t i = 1; i < symbols.size(); ++i) {
    const Elf64_Sym& symbol = symbols[i];
    const auto binding = ELF64_ST_BIND(symbol.st_info);
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (binding == STB_LOCAL || type == STT_SECTION || type == STT_FILE) continue;
    if (symbol.st_shndx != SHN_UNDEF && visibility != STV_DEFAULT && visibility != STV_PROTECTED) continue;
    DynamicSymbol entry{tables.text(symbol.st_name), {}, binding != STB_GLOBAL, bound.contains(i)};
    if (i < versions.size()) {
      const auto name = tables.version_names.find(versions[i] & kVersionMask);
      if (name != tables.version_names.end()) entry.version = name->second;
    }
    if (visibility == STV_PROTECTED) entry.bound = false;  // its own definition is taken in any case
    (symbol.st_shndx == SHN_UNDEF ? undefined : defined).push_back(std::move(entry));
  }
}

/// As glibc's check_match().
Definition DynamicImage::State::fits(uint32_t index, std::string_view name, std::string_view version) const {
  const auto symbol = tables.at<Elf64_Sym>(tables.symbols + uint64_t{index} * sizeof(Elf64_Sym));
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if (symbol.st_shndx == SHN_UNDEF || (symbol.st_value == 0 && symbol.st_shndx != SHN_ABS && type != STT_TLS)) {
    return Definition::kNone;
  }
  const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || (visibility != STV_DEFAULT && visibility != STV_PROTECTED)) {
    return Definition::kNone;
  }
  if (!tables.is_text(symbol.st_name, name)) return Definition::kNone;
  const Definition found = ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL ? Definition::kStrong : Definition::kVague;
  if (tables.versions == 0) return found;
  const auto raw = tables.at<uint16_t>(tables.versions + uint64_t{index} * sizeof(uint16_t));
  const uint16_t number = raw & kVersionMask;
  const bool hidden = (raw & kHiddenVersion) != 0;
  if (version.empty()) return number < 3 || !hidden ? found : Definition::kNone;
  const auto own = tables.version_names.find(number);
  if (own == tables.version_names.end()) return hidden ? Definition::kNone : found;
  return own->second == version ? found : Definition::kNone;
}

Definition DynamicImage::State::find_gnu(const SoughtSymbol& symbol) const {
  constexpr uint32_t kBits = 64;
  const uint32_t hash = symbol.gnu_hash;
  const uint64_t word = bloom[(hash / kBits) % bloom.size()];
  if (((word >> (hash % kBits)) & (word >> ((hash >> (shift % 32)) % kBits)) & 1) == 0) return Definition::kNone;
  auto index = tables.at<uint32_t>(bucket_table + uint64_t{hash % buckets} * sizeof(uint32_t));
  if (index == 0) return Definition::kNone;
  if (index < first) throw damaged_tables("its hash table points nowhere");
  while (true) {
    const auto link = tables.at<uint32_t>(chain_table + uint64_t{index - first} * sizeof(uint32_t));
    if ((link | 1) == (hash | 1)) {
      if (const Definition found = fits(index, symbol.name, symbol.version); found != Definition::kNone) return found;
    }
    if ((link & 1) != 0) return Definition::kNone;
    ++index;
  }
}

Definition DynamicImage::State::find_sysv(std::string_view name, std::string_view version) const {
  const uint64_t start = tables.hash + 2 * sizeof(uint32_t);
  auto index = tables.at<uint32_t>(start + uint64_t{sysv_hash_of(name) % buckets} * sizeof(uint32_t));
  for (uint32_t steps = 0; index != 0; ++steps) {
    if (index >= chains_of_sysv || steps > chains_of_sysv) throw damaged_tables("its hash table runs in circles");
    if (const Definition found = fits(index, name, version); found != Definition::kNone) return found;
    index = tables.at<uint32_t>(start + (uint64_t{buckets} + index) * sizeof(uint32_t));
  }
  return Definition::kNone;
}

DynamicImage::DynamicImage(const std::filesystem::path& path) {
  (void)ElfFile(path);  // refuses what is no library of this machine
  state_ = std::make_unique<State>(path);
}

DynamicImage::~DynamicImage() = default;
DynamicImage::DynamicImage(DynamicImage&&) noexcept = default;
DynamicImage& DynamicImage::operator=(DynamicImage&&) noexcept = default;

const std::filesystem::path& DynamicImage::path() const noexcept { return state_->tables.path(); }
const std::vector<std::string>& DynamicImage::needed() const noexcept { return state_->tables.needed; }
const std::string& DynamicImage::soname() const noexcept { return state_->tables.soname; }
const std::string& DynamicImage::rpath() const noexcept { return state_->tables.rpath; }
const std::string& DynamicImage::runpath() const noexcept { return state_->tables.runpath; }
bool DynamicImage::executable_stack() const noexcept { return state_->tables.executable_stack; }
bool DynamicImage::text_relocations() const noexcept { return state_->tables.text_relocations; }
bool DynamicImage::nodelete() const noexcept { return state_->tables.nodelete; }
bool DynamicImage::symbolic() const noexcept { return state_->tables.symbolic; }

const std::vector<DynamicSymbol>& DynamicImage::undefined() const {
  state_->read_symbols();
  return state_->undefined;
}

const std::vector<DynamicSymbol>& DynamicImage::defined() const {
  state_->read_symbols();
  return state_->defined;
}

const std::vector<DemandedVersion>& DynamicImage::demanded_versions() const { return state_->tables.demanded; }
const std::vector<std::string>& DynamicImage::offered_versions() const { return state_->tables.offered; }

Definition DynamicImage::find(const SoughtSymbol& symbol) const {
  if (state_->tables.symbols == 0) return Definition::kNone;
  if (!state_->bloom.empty()) return state_->find_gnu(symbol);
  return state_->buckets == 0 ? Definition::kNone : state_->find_sysv(symbol.name, symbol.version);
}

}  // namespace tenon::core
