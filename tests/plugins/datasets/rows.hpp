// A dataset that a test makes, as input for datasets over others, and checks of what those hand on.
#pragma once

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <plugins/datasets/opened.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/derived.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/harness/samples.hpp>

namespace tenon::test {

/// Items i of x = {first + i, -(first + i)}, float32, and label = (first + i) % 3, int64, in memory; perhaps also text
/// of i % 5 bytes, which then cannot be viewed.
class Counting final : public Dataset,
                       public InMemory,
                       public Columns,
                       public PartialRead,
                       public Categorical,
                       public ItemNames {
 public:
  explicit Counting(int64_t size, int64_t first = 0, bool with_text = false) : size_(size), with_text_(with_text) {
    for (int64_t i = first; i < first + size; ++i) {
      x_.push_back(static_cast<float>(i));
      x_.push_back(static_cast<float>(-i));
      labels_.push_back(i % 3);
    }
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    if (wanted == Columns::kAbility && tells_columns) return static_cast<Columns*>(this);
    if (wanted == PartialRead::kAbility) return static_cast<PartialRead*>(this);
    if (wanted == Categorical::kAbility) return static_cast<Categorical*>(this);
    if (wanted == ItemNames::kAbility) return static_cast<ItemNames*>(this);
    return nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    Spec fields{{"x", Dtype::kFloat32, {2}}, {"label", Dtype::kInt64, {}}};
    if (with_text_) fields.push_back({"text", Dtype::kUint8, {Dim()}});
    return fields;
  }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] std::string fingerprint() const override {
    return std::string("counting-").append(std::to_string(size_)).append("-").append(std::to_string(labels_[0]));
  }

  void read(int64_t index, Sample& out) const override {
    if (on_read) on_read(index);
    const auto item = static_cast<std::size_t>(index);
    const Shape two{2};
    std::memcpy(out.allocate(0, Dtype::kFloat32, two).data, &x_[2 * item], 8);
    out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = labels_[item];
    if (!with_text_) return;
    const Shape length{index % 5};
    const auto text = out.allocate(2, Dtype::kUint8, length).as<uint8_t>();
    std::fill(text.begin(), text.end(), static_cast<uint8_t>(index));
  }

  [[nodiscard]] bool can_view() const noexcept override { return !with_text_; }
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    fields[0] = reinterpret_cast<const std::byte*>(&x_[2 * static_cast<std::size_t>(index)]);
    fields[1] = reinterpret_cast<const std::byte*>(&labels_[static_cast<std::size_t>(index)]);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (field != "label") return std::nullopt;
    return std::vector<double>(labels_.begin(), labels_.end());
  }
  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const override {
    if (!with_text_ || field != "text") return std::nullopt;
    std::vector<int64_t> all;
    for (int64_t i = 0; i < size_; ++i) all.push_back(i % 5);
    return all;
  }

  [[nodiscard]] std::optional<std::vector<std::string>> categories(std::string_view field) const override {
    return field == "label" ? std::optional(classes) : std::nullopt;
  }
  [[nodiscard]] std::string item_name(int64_t index) const override {
    return "number " + std::to_string(static_cast<int64_t>(x_[2 * static_cast<std::size_t>(index)]));
  }

  [[nodiscard]] std::string_view partial_field() const noexcept override { return "x"; }
  void read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const override {
    (void)choose({index, 1});
    read(index, out);
  }

  /// Gives an item another x, though size, labels and fingerprint stay.
  void change(int64_t index) { x_[2 * static_cast<std::size_t>(index)] += 1000; }

  std::function<void(int64_t)> on_read;
  std::vector<std::string> classes{"a", "b", "c"};
  bool tells_columns = true;

 private:
  int64_t size_;
  bool with_text_;
  std::vector<float> x_;
  std::vector<int64_t> labels_;
};

/// A dataset over others, as the engine makes it.
inline Made<Dataset> opened_over(const std::string& name, const Json& params, const std::vector<Dataset*>& inputs) {
  auto dataset = made(name, params);
  harness::open(*dataset, inputs);
  return dataset;
}

/// The bytes of each field of an item by read().
inline std::vector<std::vector<std::byte>> bytes_read(const Dataset& dataset, int64_t index) {
  const Spec spec = dataset.spec();
  MemorySample sample(spec);
  dataset.read(index, sample);
  std::vector<std::vector<std::byte>> all;
  for (const FieldSpec& field : spec) {
    const Array array = sample.written_array(field.name);
    const auto* const data = static_cast<const std::byte*>(array.data);
    all.emplace_back(data, data + array.bytes());
  }
  return all;
}

/// EXPECT that every item can be viewed, and lies in memory as read() gives it, aligned to its numbers.
inline void expect_views(Dataset& dataset) {
  auto* const in_memory = ability<InMemory>(dataset);
  ASSERT_NE(in_memory, nullptr);
  ASSERT_TRUE(in_memory->can_view());
  const Spec spec = dataset.spec();
  for (int64_t i = 0; i < dataset.size(); ++i) {
    std::vector<const std::byte*> fields(spec.size(), nullptr);
    in_memory->view(i, fields);
    const auto expected = bytes_read(dataset, i);
    for (std::size_t f = 0; f < spec.size(); ++f) {
      ASSERT_NE(fields[f], nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(fields[f]) % size_of(spec[f].dtype), 0U);
      EXPECT_EQ(std::memcmp(fields[f], expected[f].data(), expected[f].size()), 0) << "item " << i << " field " << f;
    }
  }
}

/// EXPECT that a scalar field's column is what read() gives for each item.
template <class T>
void expect_column(Dataset& dataset, const std::string& field) {
  const auto told = ability<Columns>(dataset)->column(field);
  ASSERT_TRUE(told.has_value());
  const std::vector<T> values = column<T>(dataset, field);
  EXPECT_EQ(*told, std::vector<double>(values.begin(), values.end()));
}

/// What the dataset remarks, if it does.
inline std::vector<std::string> told_by(Dataset& dataset) {
  auto* const remarks = ability<Remarks>(dataset);
  return remarks == nullptr ? std::vector<std::string>() : remarks->remarks();
}

/// Of this process, that no file backs, in KiB; -1 where the system does not tell, or a sanitizer keeps what was freed.
inline int64_t own_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return -1;
#else
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kib = -1;
  while (status >> word) {
    if (word == "RssAnon:") status >> kib;
  }
  return kib;
#endif
}

}  // namespace tenon::test
