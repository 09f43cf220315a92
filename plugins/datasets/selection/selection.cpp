// Handing on what the input has.
#include <selection/selection.hpp>

#include <utility>

#include <selection/abilities.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {

void* Selection::ability(const char* id) noexcept {
  const std::string_view wanted(id);
  if (wanted == Derived::kAbility) return static_cast<Derived*>(this);
  if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
  if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
  if (wanted == PartialRead::kAbility && partial_ != nullptr) return static_cast<PartialRead*>(this);
  if (wanted == Categorical::kAbility && categorical_ != nullptr) return static_cast<Categorical*>(this);
  if (wanted == ItemNames::kAbility && item_names_ != nullptr) return static_cast<ItemNames*>(this);
  return nullptr;
}

void Selection::require_one(std::size_t inputs) const {
  if (inputs == 1) return;
  throw Error(ErrorCode::kConfig,
              does_ + " one dataset, and has " + std::to_string(inputs) + " as input: name one node in \"in\"");
}

void Selection::derive(std::span<const Spec> inputs) {
  require_one(inputs.size());
  spec_ = inputs.front();
  check(spec_);
}

Spec Selection::spec() const {
  if (spec_.empty()) require_one(0);
  return spec_;
}

void Selection::open(std::span<Dataset* const> inputs) {
  require_one(inputs.size());
  input_ = inputs.front();
  in_memory_ = ability_of<InMemory>(*input_);
  columns_ = ability_of<Columns>(*input_);
  partial_ = ability_of<PartialRead>(*input_);
  categorical_ = ability_of<Categorical>(*input_);
  item_names_ = ability_of<ItemNames>(*input_);
  choose(*input_);
}

bool Selection::can_view() const noexcept { return in_memory_ != nullptr && in_memory_->can_view(); }

void Selection::view(int64_t index, std::span<const std::byte*> fields) const noexcept {
  in_memory_->view(source(index), fields);
}

namespace {

template <class T, class Source>
std::optional<std::vector<T>> chosen(const std::optional<std::vector<T>>& all, int64_t size, const Source& source) {
  if (!all) return std::nullopt;
  std::vector<T> some;
  some.reserve(static_cast<std::size_t>(size));
  for (int64_t i = 0; i < size; ++i) some.push_back((*all)[static_cast<std::size_t>(source(i))]);
  return some;
}

}  // namespace

std::optional<std::vector<double>> Selection::column(std::string_view field) const {
  if (columns_ == nullptr) return std::nullopt;
  return chosen(columns_->column(field), size(), [this](int64_t i) { return source(i); });
}

std::optional<std::vector<int64_t>> Selection::lengths(std::string_view field) const {
  if (columns_ == nullptr) return std::nullopt;
  return chosen(columns_->lengths(field), size(), [this](int64_t i) { return source(i); });
}

std::string_view Selection::partial_field() const noexcept {
  return partial_ == nullptr ? std::string_view() : partial_->partial_field();
}

void Selection::read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const {
  partial_->read_part(source(index), choose, out);
}

}  // namespace tenon::datasets
