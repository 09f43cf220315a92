// Memory of one sample.
#include <split/sample_bytes.hpp>

#include <cstring>

#include <tenon/error.hpp>

namespace tenon::datasets {

Array SampleBytes::at(int /*field*/) const { throw Error(ErrorCode::kData, "a dataset takes in no fields"); }
Array SampleBytes::at(std::string_view /*name*/) const { return at(0); }

Array SampleBytes::allocate(int field, Dtype dtype, std::span<const int64_t> shape) {
  Field& kept = fields_.at(static_cast<std::size_t>(field));
  kept.shape.assign(shape.begin(), shape.end());
  const std::size_t head = shape.size() * sizeof(int64_t);
  kept.bytes.resize(head + static_cast<std::size_t>(elements(shape)) * size_of(dtype));
  if (head > 0) std::memcpy(kept.bytes.data(), shape.data(), head);
  return {kept.bytes.data() + head, dtype, kept.shape};
}

Array SampleBytes::allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) {
  return allocate(index_of(spec_, name), dtype, shape);
}

}  // namespace tenon::datasets
