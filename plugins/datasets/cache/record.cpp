// Walking over the fields of a record.
#include <cache/record.hpp>

#include <cstring>
#include <utility>

namespace tenon::datasets {
namespace {

constexpr std::size_t kAlignment = 8;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t size_at(const std::byte* record, std::size_t axis) noexcept {
  int64_t size = 0;
  std::memcpy(&size, record + axis * sizeof(size), sizeof(size));
  return size;
}

/// Bytes of the elements of a field that begins at `record`.
std::size_t elements_bytes(const FieldSpec& field, const std::byte* record) noexcept {
  std::size_t bytes = size_of(field.dtype);
  for (std::size_t axis = 0; axis < field.shape.size(); ++axis) {
    bytes *= static_cast<std::size_t>(size_at(record, axis));
  }
  return bytes;
}

}  // namespace

RecordLayout::RecordLayout(Spec fields) : fields_(std::move(fields)), fixed_(0) {
  for (const FieldSpec& field : fields_) {
    std::size_t bytes = size_of(field.dtype);
    for (const Dim& dim : field.shape) {
      if (!dim.fixed()) {
        fixed_.reset();
        return;
      }
      bytes *= static_cast<std::size_t>(dim.size);
    }
    offsets_.push_back(*fixed_ + field.shape.size() * sizeof(int64_t));
    *fixed_ = offsets_.back() + aligned(bytes);
  }
}

void RecordLayout::append(const SampleBytes& sample, std::vector<std::byte>& to) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::span<const std::byte> field = sample.field(static_cast<int>(i));
    to.insert(to.end(), field.begin(), field.end());
    to.resize(aligned(to.size()));
  }
}

void RecordLayout::read(const std::byte* record, Sample& out) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const FieldSpec& field = fields_[i];
    Shape shape;
    for (std::size_t axis = 0; axis < field.shape.size(); ++axis) shape.push_back(size_at(record, axis));
    const std::size_t bytes = elements_bytes(field, record);
    record += shape.size() * sizeof(int64_t);
    const Array to = out.allocate(static_cast<int>(i), field.dtype, shape);
    if (bytes > 0) std::memcpy(to.data, record, bytes);
    record += aligned(bytes);
  }
}

void RecordLayout::view(const std::byte* record, std::span<const std::byte*> fields) const noexcept {
  if (fixed_) {
    for (std::size_t i = 0; i < fields_.size(); ++i) fields[i] = record + offsets_[i];
    return;
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::size_t bytes = elements_bytes(fields_[i], record);
    record += fields_[i].shape.size() * sizeof(int64_t);
    fields[i] = record;
    record += aligned(bytes);
  }
}

Shape RecordLayout::shape(const std::byte* record, std::size_t field) const {
  for (std::size_t i = 0; i < field; ++i) {
    record += fields_[i].shape.size() * sizeof(int64_t) + aligned(elements_bytes(fields_[i], record));
  }
  Shape sizes;
  for (std::size_t axis = 0; axis < fields_[field].shape.size(); ++axis) sizes.push_back(size_at(record, axis));
  return sizes;
}

}  // namespace tenon::datasets
