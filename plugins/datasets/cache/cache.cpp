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
#include <files/unreadable.hpp>
#include <selection/abilities.hpp>
#include <selection/try_read.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/derived.hpp>
#include <tenon/components/fitted.hpp>
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
class Cache final : public Dataset,
                    public Derived,
                    public InMemory,
                    public Columns,
                    public Remarks,
                    public Categorical,
                    public ItemNames {
 public:
  explicit Cache(CacheParams params) : params_(std::move(params)) {}

  static Ports ports() { return {{Port::pass_all()}, {Port::pass_all()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  /// Categorical is handed on, but not listed: names of classes are kept with the dataset that found them.
  static std::vector<std::string> abilities() {
    return {Derived::kAbility, InMemory::kAbility, Columns::kAbility, Remarks::kAbility, ItemNames::kAbility};
  }
  static Example example() { return {.params = R"({"limit": "64 B"})", .files = {}, .inputs = {}}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == Derived::kAbility) return static_cast<Derived*>(this);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    if (wanted == Remarks::kAbility) return static_cast<Remarks*>(this);
    if (wanted == Categorical::kAbility && categorical_ != nullptr) return static_cast<Categorical*>(this);
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
    categorical_ = ability_of<Categorical>(*input_);
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
    const std::byte* const there = record(index);
    if (there != nullptr) return layout_->read(there, out);
    if (file_) return input_->read(index, out);  // it could not be read before, and says why, unless it was mended
    SampleBytes sample(spec_);
    input_->read(index, sample);
    std::vector<std::byte> record;
    layout_->append(sample, record);
    memory_->keep(index, record);
    layout_->read(record.data(), out);
  }

  [[nodiscard]] bool can_view() const noexcept override { return layout_->fixed_bytes() && holds_all(); }

  /// Tells of no field where an item is damaged and cannot be read anew, for which read() then says why.
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
    std::vector<const std::byte*> fields(spec_.size());
    return of_all<double>([&](const std::byte* record) {
      layout_->view(record, fields);
      return number_at(fields[static_cast<std::size_t>(found - spec_.data())], found->dtype);
    });
  }

  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const override {
    const FieldSpec* const found = find(spec_, field);
    if (found == nullptr || found->shape.empty()) return std::nullopt;
    const auto* const columns = ability_of<Columns>(*input_);
    if (auto told = columns == nullptr ? std::nullopt : columns->lengths(field)) return told;
    return of_all<int64_t>([&](const std::byte* record) {
      return layout_->shape(record, static_cast<std::size_t>(found - spec_.data())).front();
    });
  }

  [[nodiscard]] std::optional<std::vector<std::string>> categories(std::string_view field) const override {
    return categorical_->categories(field);
  }

  [[nodiscard]] std::string item_name(int64_t index) const override {
    const auto* const names = ability_of<ItemNames>(*input_);
    return names == nullptr ? std::string() : names->item_name(index);
  }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    std::vector<std::string> all;
    if (unreadable().count > 0) all.push_back(unreadable().told(size()));
    if (file_) {
      for (std::string& each : file_->remarks()) all.push_back(std::move(each));
    } else if (const std::optional<std::string> shortage = limit_->shortage()) {
      all.push_back(*shortage + ", and those that find no room are read anew each time");
    }
    return all;
  }

 private:
  static void require_one(std::size_t inputs) {
    if (inputs == 1) return;
    throw Error(ErrorCode::kConfig,
                "keeps one dataset, and has " + std::to_string(inputs) + " as input: name one node in \"in\"");
  }

  [[nodiscard]] bool holds_all() const noexcept {
    return (file_ || params_.fill == CacheFill::kStart) && unreadable().count == 0;
  }

  [[nodiscard]] const UnreadableItems& unreadable() const noexcept { return file_ ? file_->unreadable() : unreadable_; }

  /// Of an item that the store holds, or nullptr. \throws Error as FileStore::record().
  [[nodiscard]] const std::byte* record(int64_t index) const {
    return file_ ? file_->record(index) : memory_->find(index);
  }

  /// What is told of the record of each item; nothing where some item has none, or one that is damaged for good, for then
  /// whoever reads all items finds out what is to become of it.
  template <class T, class Tell>
  [[nodiscard]] std::optional<std::vector<T>> of_all(const Tell& tell) const {
    if (!holds_all()) return std::nullopt;
    std::vector<T> all;
    try {
      for (int64_t i = 0; i < size(); ++i) all.push_back(tell(record(i)));
    } catch (const Error& error) {
      if (is_fault_of_item(error.code())) return std::nullopt;
      throw;
    }
    return all;
  }

  void fill_memory() {
    limit_->require_room();
    read_all(*input_, *layout_, usable_cores(),
             [&](int64_t item, std::span<const std::byte> record, const std::string& why) {
               if (record.empty()) return unreadable_.add(item, why);
               if (!memory_->keep(item, record)) limit_->refuse_first(item + 1);
             });
  }

  CacheParams params_;
  Spec spec_;
  std::optional<RecordLayout> layout_;
  Dataset* input_ = nullptr;
  const Categorical* categorical_ = nullptr;
  UnreadableItems unreadable_;  // when memory was filled
  std::optional<CacheLimit> limit_;
  mutable std::optional<MemoryStore> memory_;
  std::optional<FileStore> file_;
};

TENON_COMPONENT(Cache, CacheParams, "cache",
                "What its input reads, decodes and transforms, kept in memory or in a file that runs share")

}  // namespace tenon::datasets
