// dataset:concat: several datasets one behind the other.
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <selection/abilities.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/derived.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

struct ConcatParams {
  std::string source;

  TENON_PARAMS(
      ConcatParams,
      field(&ConcatParams::source, "source",
            "Adds a field of this name, int64: the place of the item's dataset in \"in\", from 0 on; \"\" for none"))
};

class Concat final : public Dataset,
                     public Derived,
                     public InMemory,
                     public Columns,
                     public PartialRead,
                     public Categorical,
                     public ItemNames {
 public:
  explicit Concat(ConcatParams params) : source_(std::move(params.source)) {}

  static Ports ports() { return {{Port::pass_all()}, {Port::pass_all(), Port::of("$source", {Dtype::kInt64}, {})}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() {
    return {Derived::kAbility,     InMemory::kAbility,    Columns::kAbility,
            PartialRead::kAbility, Categorical::kAbility, ItemNames::kAbility};
  }
  static Example example() { return {.params = R"({"source": "from"})", .files = {}, .inputs = {}}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == Derived::kAbility) return static_cast<Derived*>(this);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    if (wanted == PartialRead::kAbility && !partial_field().empty()) return static_cast<PartialRead*>(this);
    if (wanted == Categorical::kAbility) return static_cast<Categorical*>(this);
    if (wanted == ItemNames::kAbility) return static_cast<ItemNames*>(this);
    return nullptr;
  }

  void derive(std::span<const Spec> inputs) override {
    require_any(inputs.size());
    spec_ = inputs.front();
    for (std::size_t i = 1; i < inputs.size(); ++i) require_equal(inputs[i], i);
    if (source_.empty()) return;
    if (find(spec_, source_) != nullptr) {
      throw Error(ErrorCode::kConfig, "the inputs have a field \"" + source_ + "\" already: choose another name",
                  "/source");
    }
    spec_.push_back({source_, Dtype::kInt64, {}});
  }

  [[nodiscard]] Spec spec() const override {
    if (spec_.empty()) require_any(0);
    return spec_;
  }

  void open(std::span<Dataset* const> inputs) override {
    require_any(inputs.size());
    int64_t begin = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Dataset* const each = inputs[i];
      parts_.push_back({each, ability_of<InMemory>(*each), ability_of<Columns>(*each), ability_of<PartialRead>(*each),
                        ability_of<Categorical>(*each), ability_of<ItemNames>(*each), begin, static_cast<int64_t>(i)});
      if (__builtin_add_overflow(begin, each->size(), &begin)) {
        throw Error(ErrorCode::kData, "the inputs have more than 2^63 items together");
      }
    }
    size_ = begin;
  }

  [[nodiscard]] int64_t size() const override { return size_; }

  [[nodiscard]] std::string fingerprint() const override {
    std::string text = "concat-1:" + source_;
    for (const Part& part : parts_) {
      const std::string inner = part.dataset->fingerprint();
      text.append(":").append(std::to_string(inner.size())).append(":").append(inner);
    }
    return text;
  }

  void read(int64_t index, Sample& out) const override {
    const Part& part = part_of(index);
    part.dataset->read(index - part.begin, out);
    if (!source_.empty()) write_source(part, out);
  }

  [[nodiscard]] bool can_view() const noexcept override {
    return !parts_.empty() && std::all_of(parts_.begin(), parts_.end(), [](const Part& part) {
      return part.in_memory != nullptr && part.in_memory->can_view();
    });
  }

  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    const Part& part = part_of(index);
    const std::size_t own = source_.empty() ? 0 : 1;
    part.in_memory->view(index - part.begin, fields.first(fields.size() - own));
    if (own > 0) fields.back() = reinterpret_cast<const std::byte*>(&part.number);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (!source_.empty() && field == source_) {
      std::vector<double> numbers;
      numbers.reserve(static_cast<std::size_t>(size_));
      for (const Part& part : parts_) {
        numbers.insert(numbers.end(), static_cast<std::size_t>(part.dataset->size()), static_cast<double>(part.number));
      }
      return numbers;
    }
    return joined<double>([&](const Columns& columns) { return columns.column(field); });
  }

  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const override {
    return joined<int64_t>([&](const Columns& columns) { return columns.lengths(field); });
  }

  [[nodiscard]] std::string_view partial_field() const noexcept override {
    if (parts_.empty() || parts_.front().partial == nullptr) return {};
    const std::string_view first = parts_.front().partial->partial_field();
    const bool all = std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      return part.partial != nullptr && part.partial->partial_field() == first;
    });
    return all ? first : std::string_view();
  }

  void read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const override {
    const Part& part = part_of(index);
    part.partial->read_part(index - part.begin, choose, out);
    if (!source_.empty()) write_source(part, out);
  }

  /// Where all inputs agree on them.
  [[nodiscard]] std::optional<std::vector<std::string>> categories(std::string_view field) const override {
    const auto of = [&](const Part& part) {
      return part.categorical == nullptr ? std::nullopt : part.categorical->categories(field);
    };
    const auto first = of(parts_.front());
    const bool all = std::all_of(parts_.begin() + 1, parts_.end(), [&](const Part& part) { return of(part) == first; });
    return all ? first : std::nullopt;
  }

  [[nodiscard]] std::string item_name(int64_t index) const override {
    const Part& part = part_of(index);
    return part.item_names == nullptr ? std::string() : part.item_names->item_name(index - part.begin);
  }

 private:
  struct Part {
    const Dataset* dataset;
    const InMemory* in_memory;
    const Columns* columns;
    const PartialRead* partial;
    const Categorical* categorical;
    const ItemNames* item_names;
    int64_t begin;   // index of its first item
    int64_t number;  // among the inputs
  };

  static void require_any(std::size_t inputs) {
    if (inputs > 0) return;
    throw Error(ErrorCode::kConfig, "joins datasets, and has none as input: name them in \"in\"");
  }

  void require_equal(const Spec& other, std::size_t number) const {
    const auto text = [](const Spec& fields) {
      std::string all;
      for (const FieldSpec& field : fields) all += (all.empty() ? "" : ", ") + field.name + " " + to_string(field);
      return all;
    };
    const std::string first = text(spec_);
    const std::string found = text(other);
    if (first == found) return;
    throw Error(ErrorCode::kConfig, "joins datasets of equal fields in equal order, but input " +
                                        std::to_string(number) + " has " + found + ", and input 0 " + first);
  }

  [[nodiscard]] const Part& part_of(int64_t index) const noexcept {
    const auto behind = std::upper_bound(parts_.begin(), parts_.end(), index,
                                         [](int64_t wanted, const Part& part) { return wanted < part.begin; });
    return *(behind - 1);
  }

  void write_source(const Part& part, Sample& out) const {
    out.allocate(static_cast<int>(spec_.size()) - 1, Dtype::kInt64, {}).as<int64_t>()[0] = part.number;
  }

  template <class T, class Ask>
  [[nodiscard]] std::optional<std::vector<T>> joined(const Ask& ask) const {
    std::vector<T> all;
    for (const Part& part : parts_) {
      const auto some = part.columns == nullptr ? std::nullopt : ask(*part.columns);
      if (!some) return std::nullopt;
      all.insert(all.end(), some->begin(), some->end());
    }
    return all;
  }

  std::string source_;
  Spec spec_;
  std::vector<Part> parts_;
  int64_t size_ = 0;
};

TENON_COMPONENT(Concat, ConcatParams, "concat", "Several datasets of equal fields, one behind the other")

}  // namespace tenon::datasets
