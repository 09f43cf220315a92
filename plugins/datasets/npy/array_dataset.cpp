// Reading, viewing and counting over the sources of the fields.
#include <npy/array_dataset.hpp>

#include <algorithm>
#include <utility>

#include <files/content_hash.hpp>
#include <files/numbers.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {

NpySample declared_sample(NpyType type, const Shape& shape, const std::string& pointer) {
  int64_t bytes = 8;
  for (const int64_t axis : shape) {
    if (__builtin_mul_overflow(bytes, axis, &bytes)) {
      throw Error(ErrorCode::kConfig, "a sample would have more than 2^63 bytes", pointer + "/shape");
    }
  }
  return {dtype_of(tenon_enum_names(type).names[static_cast<std::size_t>(type)]).value(), shape};
}

void* ArrayDataset::ability(const char* id) noexcept {
  const std::string_view wanted(id);
  if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
  if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
  return nullptr;
}

void ArrayDataset::declare(const std::string& name, NpySample sample, const std::string& pointer) {
  if (find(spec_, name) != nullptr) {
    throw Error(ErrorCode::kConfig, "\"" + name + "\" is the name of another field already", pointer + "/name");
  }
  spec_.push_back({name, sample.dtype, {sample.shape.begin(), sample.shape.end()}});
  samples_.push_back(std::move(sample));
}

void ArrayDataset::add(std::unique_ptr<NpySource> source, const std::string& name, const std::string& pointer) {
  if (sources_.empty()) {
    if (source->size() == 0) throw Error(ErrorCode::kData, name + ": holds no samples", pointer);
    first_ = name;
  } else if (source->size() != size()) {
    throw Error(
        ErrorCode::kData,
        name + ": holds " + std::to_string(source->size()) + " samples, but " + first_ + " " + std::to_string(size()),
        pointer);
  }
  const FieldSpec& field = spec_[sources_.size()];
  fingerprint_.append(":").append(field.name).append(" ").append(to_string(field));
  fingerprint_.append("=").append(hex(source->hash()));
  sources_.push_back(std::move(source));
}

void ArrayDataset::read(int64_t index, Sample& out) const {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Array to = out.allocate(static_cast<int>(i), samples_[i].dtype, samples_[i].shape);
    sources_[i]->read(index, static_cast<std::byte*>(to.data));
  }
}

bool ArrayDataset::can_view() const noexcept {
  return !sources_.empty() &&
         std::all_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->at(0) != nullptr; });
}

void ArrayDataset::view(int64_t index, std::span<const std::byte*> fields) const noexcept {
  for (std::size_t i = 0; i < sources_.size(); ++i) fields[i] = sources_[i]->at(index);
}

std::optional<std::vector<double>> ArrayDataset::column(std::string_view field) const {
  const FieldSpec* const found = find(spec_, field);
  if (found == nullptr || !found->shape.empty() || !has_numbers(found->dtype)) return std::nullopt;
  const NpySource& source = *sources_[static_cast<std::size_t>(found - spec_.data())];
  std::vector<double> numbers(static_cast<std::size_t>(source.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::byte bytes[8];
    source.read(static_cast<int64_t>(i), bytes);
    numbers[i] = number_at(bytes, found->dtype);
  }
  return numbers;
}

}  // namespace tenon::datasets
