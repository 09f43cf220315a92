// dataset:cache: what its input reads, decodes and transforms, kept in memory or in a file.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <cache/cache_file.hpp>
#include <cache/fill.hpp>
#include <cache/memory_store.hpp>
#include <cache/record.hpp>
#include <files/content_hash.hpp>
#include <files/numbers.hpp>
#include <selection/abilities.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/derived.hpp>
#include <tenon/components/in_memory.hpp>
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

namespace {

/// "1.5 GiB".
std::string shown_bytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace

/// The fingerprint is the input's, since the samples are. Files are named by it, so other data, or another chain of
/// transforms, has another file.
class Cache final : public Dataset, public Derived, public InMemory, public Columns, public Remarks {
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
    if (params_.path) {
      open_file();
    } else {
      store_.emplace(input_->size(), params_.limit.count);
      if (params_.fill == CacheFill::kStart) fill_memory();
    }
  }

  [[nodiscard]] int64_t size() const override { return input_->size(); }
  [[nodiscard]] std::string fingerprint() const override { return input_->fingerprint(); }

  void read(int64_t index, Sample& out) const override {
    if (file_) return layout_->read(whole_record(index), out);
    const std::byte* const there = store_->find(index);
    if (there != nullptr) return layout_->read(there, out);
    SampleBytes sample(spec_);
    input_->read(index, sample);
    std::vector<std::byte> record;
    layout_->append(sample, record);
    store_->keep(index, record);
    layout_->read(record.data(), out);
  }

  [[nodiscard]] bool can_view() const noexcept override { return layout_->fixed_bytes() && holds_all(); }

  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    layout_->view(record_at(index), fields);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    const FieldSpec* const found = find(spec_, field);
    if (found == nullptr || !found->shape.empty() || !has_numbers(found->dtype)) return std::nullopt;
    if (!holds_all()) {
      const auto* const columns = ability_of<Columns>(*input_);
      return columns == nullptr ? std::nullopt : columns->column(field);
    }
    std::vector<const std::byte*> fields(spec_.size());
    std::vector<double> numbers;
    for (int64_t i = 0; i < size(); ++i) {
      layout_->view(whole_record(i), fields);
      numbers.push_back(number_at(fields[static_cast<std::size_t>(found - spec_.data())], found->dtype));
    }
    return numbers;
  }

  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const override {
    const FieldSpec* const found = find(spec_, field);
    if (found == nullptr || found->shape.empty()) return std::nullopt;
    if (!holds_all()) {
      const auto* const columns = ability_of<Columns>(*input_);
      return columns == nullptr ? std::nullopt : columns->lengths(field);
    }
    std::vector<int64_t> all;
    for (int64_t i = 0; i < size(); ++i) {
      all.push_back(layout_->shape(whole_record(i), static_cast<std::size_t>(found - spec_.data())).front());
    }
    return all;
  }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    std::vector<std::string> all;
    if (waited_) all.push_back(file_name_ + ": was made by another process meanwhile");
    const auto bytes = layout_->fixed_bytes();
    if (store_ && bytes && params_.fill == CacheFill::kLazy) {
      const double needed = static_cast<double>(*bytes) * static_cast<double>(size());
      if (needed > static_cast<double>(params_.limit.count)) {
        all.push_back("all " + std::to_string(size()) + " items take " + shown_bytes(needed) +
                      ", more than \"limit\": " + shown_limit() +
                      ", and those that find no room are read anew each time");
      }
    }
    return all;
  }

 private:
  static void require_one(std::size_t inputs) {
    if (inputs == 1) return;
    throw Error(ErrorCode::kConfig,
                "keeps one dataset, and has " + std::to_string(inputs) + " as input: name one node in \"in\"");
  }

  [[nodiscard]] bool holds_all() const noexcept { return file_ || params_.fill == CacheFill::kStart; }

  [[nodiscard]] const std::byte* record_at(int64_t index) const noexcept {
    return file_ ? file_->record(index).data() : store_->find(index);
  }

  /// \throws Error (kData) when a file's bytes were changed.
  [[nodiscard]] const std::byte* whole_record(int64_t index) const {
    if (!file_) return store_->find(index);
    const std::span<const std::byte> record = file_->record(index);
    if (layout_->fits(record)) return record.data();
    throw Error(ErrorCode::kData, file_name_ + ": item " + std::to_string(index) + " is damaged: remove the file",
                "/path");
  }

  static int64_t threads() { return std::max<int64_t>(1, std::thread::hardware_concurrency()); }

  [[noreturn]] void refuse_size(const std::string& what) const {
    throw Error(ErrorCode::kData,
                what + " of " + std::to_string(size()) + " items take more than \"limit\": " + shown_limit() +
                    ": raise it, or keep smaller items or fewer",
                "/limit");
  }

  [[nodiscard]] std::string shown_limit() const { return shown_bytes(static_cast<double>(params_.limit.count)); }

  void require_room() const {
    const auto bytes = layout_->fixed_bytes();
    if (!bytes) return;
    const double needed = static_cast<double>(*bytes) * static_cast<double>(size());
    if (needed > static_cast<double>(params_.limit.count)) refuse_size("the " + shown_bytes(needed));
  }

  /// Calls `keep` with each item and its record.
  template <class Keep>
  void fill(const Keep& keep) const {
    read_all(*input_, *layout_, threads(), [&](const RecordRun& run) {
      std::span<const std::byte> rest(run.bytes);
      for (std::size_t i = 0; i < run.sizes.size(); ++i) {
        keep(run.first + static_cast<int64_t>(i), rest.first(run.sizes[i]));
        rest = rest.subspan(run.sizes[i]);
      }
    });
  }

  void fill_memory() {
    require_room();
    fill([&](int64_t item, std::span<const std::byte> record) {
      if (!store_->keep(item, record)) refuse_size("the first " + std::to_string(item + 1));
    });
  }

  void open_file() {
    std::string holds = "1:" + std::to_string(input_->size()) + ":" + input_->fingerprint();
    for (const FieldSpec& field : spec_) holds += ":" + field.name + " " + to_string(field);
    const std::filesystem::path path = *params_.path / (hex(content_hash(std::as_bytes(std::span(holds)))) + ".cache");
    file_name_ = path.string();
    const auto waits = [&] {
      waited_ = true;
      std::fputs(("dataset:cache: waits for another process that is making " + file_name_ + "\n").c_str(), stderr);
    };
    file_.emplace(open_cache_file(
        path, holds,
        [&](const PutRecord& put) {
          waited_ = false;  // whoever was waited for has not made it
          require_room();
          int64_t bytes = 0;
          fill([&](int64_t item, std::span<const std::byte> record) {
            bytes += static_cast<int64_t>(record.size());
            if (bytes > params_.limit.count) refuse_size("the first " + std::to_string(item + 1));
            put(record);
          });
        },
        waits));
  }

  CacheParams params_;
  Spec spec_;
  std::optional<RecordLayout> layout_;
  Dataset* input_ = nullptr;
  mutable std::optional<MemoryStore> store_;
  std::optional<CacheFile> file_;
  std::string file_name_;
  bool waited_ = false;
};

TENON_COMPONENT(Cache, CacheParams, "cache",
                "What its input reads, decodes and transforms, kept in memory or in a file that runs share")

}  // namespace tenon::datasets
