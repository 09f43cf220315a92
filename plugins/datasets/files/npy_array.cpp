// Row-major order from both of numpy's.
#include <files/npy_array.hpp>

#include <algorithm>
#include <cstring>

#include <files/content_hash.hpp>
#include <tenon/error.hpp>
#include <tenon/spec.hpp>

namespace tenon::datasets {
namespace {

/// Copies numbers from where the first of the axes runs fastest to row-major order. `strides` are in elements.
void gather(const std::byte* from, std::size_t width, std::span<const int64_t> shape, std::span<const int64_t> strides,
            std::byte* to) {
  const int64_t count = elements(shape);
  Shape at(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i, to += width) {
    std::memcpy(to, from + static_cast<std::size_t>(offset) * width, width);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

Shape fortran_strides(std::span<const int64_t> shape) {
  Shape strides;
  int64_t stride = 1;
  for (const int64_t axis : shape) {
    strides.push_back(stride);
    stride *= axis;
  }
  return strides;
}

}  // namespace

std::string npy_text(Dtype dtype, std::span<const int64_t> shape) {
  return to_string(FieldSpec{{}, dtype, {shape.begin(), shape.end()}});
}

NpyArray read_npy(std::span<const std::byte> file, const std::string& name, const std::string& pointer) {
  const auto fail = [&](const std::string& why) { throw Error(ErrorCode::kData, name + ": " + why, pointer); };
  NpyArray array;
  try {
    array.header = parse_npy_header({reinterpret_cast<const char*>(file.data()), file.size()});
  } catch (const Error& error) {
    fail(error.what());
  }
  auto bytes = static_cast<int64_t>(size_of(array.header.dtype));
  for (const int64_t axis : array.header.shape) {
    if (__builtin_mul_overflow(bytes, axis, &bytes)) fail("its header is damaged: the shape is too large");
  }
  const uint64_t expected = array.header.data_offset + static_cast<uint64_t>(bytes);
  const uint64_t found = file.size();
  if (expected != found) {
    fail((found < expected ? "is cut off: " : "is too long: ") + npy_text(array.header.dtype, array.header.shape) +
         " takes " + std::to_string(expected) + " bytes with its header, and it has " + std::to_string(found));
  }
  array.data = file.subspan(array.header.data_offset);
  return array;
}

void copy_rows(const NpyArray& array, std::byte* to) {
  if (array.header.fortran_order) {
    gather(array.data.data(), size_of(array.header.dtype), array.header.shape, fortran_strides(array.header.shape), to);
  } else if (!array.data.empty()) {
    std::memcpy(to, array.data.data(), array.data.size());
  }
}

void require_npy(const NpySample& declared, const std::string& name, Dtype dtype, std::span<const int64_t> sample,
                 const std::string& pointer) {
  if (dtype == declared.dtype &&
      std::equal(sample.begin(), sample.end(), declared.shape.begin(), declared.shape.end())) {
    return;
  }
  throw Error(ErrorCode::kData,
              name + ": a sample of it is " + npy_text(dtype, sample) + ", but the pipeline says " +
                  npy_text(declared.dtype, declared.shape) + ": give what the file holds",
              pointer + (dtype == declared.dtype ? "/shape" : "/dtype"));
}

NpySamples::NpySamples(const NpyArray& array, const NpySample& declared, const std::string& name,
                       const std::string& pointer, const std::string& array_at)
    : data_(array.data) {
  const NpyHeader& header = array.header;
  if (header.shape.empty()) {
    throw Error(ErrorCode::kData, name + ": holds a single number, but its first axis has to count the samples",
                pointer + array_at);
  }
  size_ = header.shape.front();
  sample_.assign(header.shape.begin() + 1, header.shape.end());
  require_npy(declared, name, header.dtype, sample_, pointer);
  width_ = size_of(header.dtype);
  bytes_ = width_ * static_cast<std::size_t>(elements(sample_));
  if (header.fortran_order && !sample_.empty()) strides_ = fortran_strides(header.shape);
}

uint64_t NpySamples::hash() const { return content_hash(data_, strides_.empty() ? 0 : 1); }

void NpySamples::read(int64_t index, std::byte* to) const {
  const auto item = static_cast<std::size_t>(index);
  if (strides_.empty()) {
    if (bytes_ > 0) std::memcpy(to, data_.data() + item * bytes_, bytes_);
  } else {
    gather(data_.data() + item * width_, width_, sample_, std::span(strides_).subspan(1), to);
  }
}

const std::byte* NpySamples::at(int64_t index) const noexcept {
  if (!strides_.empty() || reinterpret_cast<std::uintptr_t>(data_.data()) % width_ != 0) return nullptr;
  return data_.data() + static_cast<std::size_t>(index) * bytes_;
}

}  // namespace tenon::datasets
