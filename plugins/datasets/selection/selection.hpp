// Datasets whose items are items of one other dataset: what all of them share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/derived.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>

namespace tenon::datasets {

/// Hands on fields, items and abilities of its one input; what derives from it says which item stands at which index.
class Selection : public Dataset,
                  public Derived,
                  public InMemory,
                  public Columns,
                  public PartialRead,
                  public Categorical,
                  public ItemNames {
 public:
  static std::vector<std::string> traits() { return {"deterministic"}; }
  /// Categorical is handed on, but not listed: names of classes are kept with the dataset that found them.
  static std::vector<std::string> abilities() {
    return {Derived::kAbility, InMemory::kAbility, Columns::kAbility, PartialRead::kAbility, ItemNames::kAbility};
  }

  /// PartialRead, Categorical and ItemNames where the input has them, once open.
  [[nodiscard]] void* ability(const char* id) noexcept override;

  void derive(std::span<const Spec> inputs) override;
  [[nodiscard]] Spec spec() const override;
  void open(std::span<Dataset* const> inputs) final;
  void read(int64_t index, Sample& out) const final { input_->read(source(index), out); }

  [[nodiscard]] bool can_view() const noexcept final;
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept final;

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const final;
  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const final;

  [[nodiscard]] std::string_view partial_field() const noexcept final;
  void read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const final;

  [[nodiscard]] std::optional<std::vector<std::string>> categories(std::string_view field) const final {
    return categorical_->categories(field);
  }
  [[nodiscard]] std::string item_name(int64_t index) const final { return item_names_->item_name(source(index)); }

 protected:
  /// `does`: what it does with one dataset, such as "splits".
  explicit Selection(std::string does) : does_(std::move(does)) {}

  /// The fields are known: the place for what depends on them. \throws Error (kConfig)
  virtual void check(const Spec& /*fields*/) const {}

  /// Works out which items there are; the input is open. \throws Error (kData)
  virtual void choose(const Dataset& input) = 0;

  /// The input's index of an item, 0 ≤ index < size().
  [[nodiscard]] virtual int64_t source(int64_t index) const noexcept = 0;

  [[nodiscard]] const Dataset& input() const noexcept { return *input_; }

  /// What the input's index tells, or nullptr; from choose() on.
  [[nodiscard]] const Columns* input_columns() const noexcept { return columns_; }

 private:
  void require_one(std::size_t inputs) const;

  std::string does_;
  Spec spec_;
  Dataset* input_ = nullptr;
  const InMemory* in_memory_ = nullptr;
  const Columns* columns_ = nullptr;
  const PartialRead* partial_ = nullptr;
  const Categorical* categorical_ = nullptr;
  const ItemNames* item_names_ = nullptr;
};

}  // namespace tenon::datasets
