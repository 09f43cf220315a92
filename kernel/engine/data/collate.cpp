// The layout of batches, and padding.
#include <engine/data/collate.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <core/text/suggest.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

template <class T>
Element bytes_of(T value) {
  Element element;
  element.size = sizeof value;
  std::memcpy(element.bytes.data(), &value, sizeof value);
  return element;
}

/// The nearest number of fewer bits, ties to even, as IEEE 754 says; `drop` mantissa bits of a float32 go.
uint32_t rounded(uint32_t bits, uint32_t drop) {
  const uint32_t half = (1U << (drop - 1)) - 1 + (bits >> drop & 1U);
  return bits + half;
}

uint16_t bfloat16_of(float value) { return static_cast<uint16_t>(rounded(std::bit_cast<uint32_t>(value), 16) >> 16U); }

uint16_t float16_of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16U & 0x8000U;
  const float size = std::abs(value);
  if (size < 0x1p-14F) {  // subnormal: a multiple of 2^-24; adding 0.5 rounds there
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(size + 0.5F) - std::bit_cast<uint32_t>(0.5F)));
  }
  return static_cast<uint16_t>(sign | ((rounded(bits & 0x7fffffffU, 13) - (112U << 23U)) >> 13U));
}

const core::PadParams* pad_of(const std::vector<core::PadParams>& pads, const std::string& field) {
  const auto found = std::find_if(pads.begin(), pads.end(), [&](const auto& pad) { return pad.field == field; });
  return found == pads.end() ? nullptr : &*found;
}

int position_of(const Spec& outputs, const std::optional<std::string>& name) {
  return name ? index_of(outputs, *name) : -1;
}

void plan_pad(BatchLayout::Field& field, const core::PadParams& pad, const Spec& outputs) {
  field.how = Collate::kPad;
  field.fill = element_of(pad.value, field.dtype);
  field.to = pad.to;
  field.multiple = pad.multiple;
  field.length = position_of(outputs, pad.length);
  field.mask = position_of(outputs, pad.mask);
  if (pad.to) {
    for (const std::size_t axis : field.free_axes) {
      field.shape[axis] = *pad.to;
    }
    // What a sample has lies in one piece at the beginning of its place.
    field.fixed = field.free_axes.size() == 1 && field.free_axes.front() == 0;
  }
}

}  // namespace

Element element_of(double value, Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool:
    case Dtype::kUint8: return bytes_of(static_cast<uint8_t>(value));
    case Dtype::kInt8: return bytes_of(static_cast<int8_t>(value));
    case Dtype::kInt16: return bytes_of(static_cast<int16_t>(value));
    case Dtype::kInt32: return bytes_of(static_cast<int32_t>(value));
    case Dtype::kInt64: return bytes_of(static_cast<int64_t>(value));
    case Dtype::kFloat16: return bytes_of(float16_of(static_cast<float>(value)));
    case Dtype::kBfloat16: return bytes_of(bfloat16_of(static_cast<float>(value)));
    case Dtype::kFloat32: return bytes_of(static_cast<float>(value));
    case Dtype::kFloat64: return bytes_of(value);
  }
  return {};
}

BatchLayout::BatchLayout(Spec fields_of_a_sample, int64_t most_samples, CollateOptions options)
    : spec(std::move(fields_of_a_sample)), bad(options.bad), capacity(most_samples) {
  outputs = core::batch_fields(options.pad, options.lists, spec);
  for (const FieldSpec& field : spec) {
    Field& added = fields.emplace_back();
    added.dtype = field.dtype;
    for (std::size_t axis = 0; axis < field.shape.size(); ++axis) {
      const Dim& dim = field.shape[axis];
      added.shape.push_back(dim.fixed() ? dim.size : 0);
      if (!dim.fixed()) {
        added.free_axes.push_back(axis);
      }
    }
    if (std::find(options.lists.begin(), options.lists.end(), field.name) != options.lists.end()) {
      added.how = Collate::kList;
      added.length = index_of(outputs, core::lengths_name(field.name));
    } else if (const core::PadParams* const pad = pad_of(options.pad, field.name)) {
      plan_pad(added, *pad, outputs);
    } else {
      added.fixed = added.free_axes.empty();
    }
    auto bytes = static_cast<int64_t>(size_of(field.dtype));
    bool overflow = false;
    for (const int64_t size : added.shape) {
      overflow = overflow || __builtin_mul_overflow(bytes, size, &bytes);
    }
    int64_t batch = 0;
    if (overflow || __builtin_mul_overflow(bytes, capacity, &batch)) {
      throw Error(ErrorCode::kMemory,
                  fmt::format("field \"{}\": {} times {} samples of a batch is more than any memory holds", field.name,
                              to_string(field), capacity));
    }
    added.stride = static_cast<std::size_t>(bytes);
  }
}

std::size_t BatchLayout::bytes() const noexcept {
  std::size_t sum = 0;
  for (const Field& field : fields) {
    sum += field.stride * static_cast<std::size_t>(capacity);
  }
  return sum;
}

void fill_with(std::byte* place, std::size_t bytes, const Element& fill) {
  const std::span<const std::byte> element = std::span(fill.bytes).first(fill.size);
  const std::byte first = element.front();
  if (std::all_of(element.begin(), element.end(), [&](std::byte each) { return each == first; })) {
    std::memset(place, std::to_integer<int>(first), bytes);
    return;
  }
  for (std::size_t at = 0; at < bytes; at += fill.size) {
    std::memcpy(place + at, fill.bytes.data(), fill.size);
  }
}

void copy_padded(std::byte* place, std::span<const int64_t> to, const std::byte* value, std::span<const int64_t> from,
                 const Element& fill) {
  if (to.empty()) {
    std::memcpy(place, value, fill.size);
    return;
  }
  const auto inner_to = static_cast<std::size_t>(elements(to.subspan(1))) * fill.size;
  const auto inner_from = static_cast<std::size_t>(elements(from.subspan(1))) * fill.size;
  const auto rows = static_cast<std::size_t>(from.front());
  if (std::equal(to.begin() + 1, to.end(), from.begin() + 1)) {
    std::copy_n(value, rows * inner_from, place);
  } else {
    for (std::size_t row = 0; row < rows; ++row) {
      copy_padded(place + row * inner_to, to.subspan(1), value + row * inner_from, from.subspan(1), fill);
    }
  }
  fill_with(place + rows * inner_to, (static_cast<std::size_t>(to.front()) - rows) * inner_to, fill);
}

}  // namespace tenon::engine
