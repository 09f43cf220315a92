// dataset:cache: what its input reads, decodes and transforms, kept in memory or in a file.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cache/file_store.hpp>
#include <cache/fill.hpp>
#include <cache/limit.hpp>
#include <cache/memory_store.hpp>
#include <cache/record.hpp>
#include <files/cores.hpp>
#include <files/numbers.hpp>
#include <selection/abilities.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/derived.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

enum class CacheFill { kLazy, kStart };
TENON_ENUM(CacheFill, "lazy", "start")

struct CacheParams {
  std::optional<std::filesystem::path> path;
  CacheFill fill = CacheFill::kLazy;
  Bytes limit{int64_t{8} << 30};

  TENON_PARAMS(
      CacheParams,
      field(&CacheParams::path, "path",
            "Folder of a file that all runs over the same data share, made at the start if it is not there; or "
            "memory, of this run alone")
          .word("memory"),
      field(&CacheParams::fill, "fill",
            "When memory is filled: lazy, as items are read first; start, all of them before the first step"),
      field(&CacheParams::limit, "limit",
            "How much the items may take. Filled as they are read, those that find no room are read anew each "
            "time; at the start, and in a file, it is an error"))
};

/// The fingerprint is the input's, since the samples are. Files are named by it, so other data, or another chain of
/// transforms, has another file; where it does not tell of other data, since it follows names and sizes alone, items that
/// are compared do.
class Cache final : public Dataset, public Derived, public InMemory, public Columns, public Remarks, public ItemNames {
 public:
  explicit Cache(CacheParams params) : params_(std::move(params)) {}

  static Ports ports() { return {{Port::pass_all()}, {Port::pass_all()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() {
    return {Derived::kAbility, InMemory::kAbility, Columns::kAbility, Remarks::kAbility};
  }
  static Example example() { return {.params = R"({"limit": "64 B"})", .files = {}, .inputs = {}}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == Derived::kAbility) return static_cast<Derived*>(this);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    if (wanted == Remarks::kAbility) return static_cast<Remarks*>(this);
    if (wanted == ItemNames::kAbility) return static_cast<ItemNames*>(this);
    return nullptr;
  }

  void derive(std::span<const Spec> inputs) override {
    require_one(inputs.size());
    spec_ = inputs.front();
    layout_.emplace(spec_);
  }

  [[nodiscard]] Spec spec() const override {
    if (!layout_) require_one(0);
    return spec_;
  }

  void open(std::span<Dataset* const> inputs) override {
    require_one(inputs.size());
    input_ = inputs.front();
    limit_.emplace(params_.limit.count, input_->size(), layout_->fixed_bytes());
    if (params_.path) {
      file_.emplace(*params_.path, *input_, *layout_, *limit_);
    } else {
      memory_.emplace(input_->size(), params_.limit.count);
      if (params_.fill == CacheFill::kStart) fill_memory();
    }
  }

  [[nodiscard]] int64_t size() const override { return input_->size(); }
  [[nodiscard]] std::string fingerprint() const override { return input_->fingerprint(); }

  void read(int64_t index, Sample& out) const override {
    if (file_) return layout_->read(file_->record(index), out);
    const std::byte* const there = memory_->find(index);
    if (there != nullptr) return layout_->read(there, out);
    SampleBytes sample(spec_);
    input_->read(index, sample);
    std::vector<std::byte> record;
    layout_->append(sample, record);
    memory_->keep(index, record);
    layout_->read(record.data(), out);
  }

  [[nodiscard]] bool can_view() const noexcept override { return layout_->fixed_bytes() && holds_all(); }

  /// Tells of no field where an item is damaged and cannot be read anew, which the engine refuses.
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    const std::byte* const record = file_ ? file_->find(index) : memory_->find(index);
    if (record != nullptr) {
      layout_->view(record, fields);
    } else {
      std::fill(fields.begin(), fields.end(), nullptr);
    }
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    const FieldSpec* const found = find(spec_, field);
    if (found == nullptr || !found->shape.empty() || !has_numbers(found->dtype)) return std::nullopt;
    const auto* const columns = ability_of<Columns>(*input_);
    if (auto told = columns == nullptr ? std::nullopt : columns->column(field)) return told;
    if (!holds_all()) return std::nullopt;
    std::vector<const std::byte*> fields(spec_.size());
    std::vector<double> numbers;
    for (int64_t i = 0; i < size(); ++i) {
      layout_->view(record(i), fields);
      numbers.push_back(number_at(fields[static_cast<std::size_t>(found - spec_.data())], found->dtype));
    }
    return numbers;
  }

  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const override {
    const FieldSpec* const found = find(spec_, field);
    if (found == nullptr || found->shape.empty()) return std::nullopt;
    const auto* const columns = ability_of<Columns>(*input_);
    if (auto told = columns == nullptr ? std::nullopt : columns->lengths(field)) return told;
    if (!holds_all()) return std::nullopt;
    std::vector<int64_t> all;
    for (int64_t i = 0; i < size(); ++i) {
      all.push_back(layout_->shape(record(i), static_cast<std::size_t>(found - spec_.data())).front());
    }
    return all;
  }

  [[nodiscard]] std::string item_name(int64_t index) const override {
    const auto* const names = ability_of<ItemNames>(*input_);
    return names == nullptr ? std::string() : names->item_name(index);
  }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    if (file_) return file_->remarks();
    const std::optional<std::string> shortage = limit_->shortage();
    if (!shortage) return {};
    return {*shortage + ", and those that find no room are read anew each time"};
  }

 private:
  static void require_one(std::size_t inputs) {
    if (inputs == 1) return;
    throw Error(ErrorCode::kConfig,
                "keeps one dataset, and has " + std::to_string(inputs) + " as input: name one node in \"in\"");
  }

  [[nodiscard]] bool holds_all() const noexcept { return file_ || params_.fill == CacheFill::kStart; }

  /// Of a store that holds all.
  [[nodiscard]] const std::byte* record(int64_t index) const {
    return file_ ? file_->record(index) : memory_->find(index);
  }

  void fill_memory() {
    limit_->require_room();
    read_all(*input_, *layout_, usable_cores(), [&](int64_t item, std::span<const std::byte> record) {
      if (!memory_->keep(item, record)) limit_->refuse_first(item + 1);
    });
  }

  CacheParams params_;
  Spec spec_;
  std::optional<RecordLayout> layout_;
  Dataset* input_ = nullptr;
  std::optional<CacheLimit> limit_;
  mutable std::optional<MemoryStore> memory_;
  std::optional<FileStore> file_;
};

TENON_COMPONENT(Cache, CacheParams, "cache",
                "What its input reads, decodes and transforms, kept in memory or in a file that runs share")

}  // namespace tenon::datasets
