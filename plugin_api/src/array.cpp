// Element types and plain arrays.
#include <tenon/array.hpp>

#include <array>
#include <string>
#include <utility>

#include <tenon/error.hpp>

namespace tenon {
namespace {

struct DtypeFacts {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<DtypeFacts, 10> kFacts{{{"bool", 1},
                                             {"uint8", 1},
                                             {"int8", 1},
                                             {"int16", 2},
                                             {"int32", 4},
                                             {"int64", 8},
                                             {"float16", 2},
                                             {"bfloat16", 2},
                                             {"float32", 4},
                                             {"float64", 8}}};

}  // namespace

std::size_t size_of(Dtype dtype) noexcept { return kFacts[static_cast<std::size_t>(dtype)].size; }

std::string_view name_of(Dtype dtype) noexcept { return kFacts[static_cast<std::size_t>(dtype)].name; }

std::optional<Dtype> dtype_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

int64_t elements(std::span<const int64_t> shape) noexcept {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

void Array::require(Dtype wanted) const {
  if (wanted != dtype) {
    throw Error(ErrorCode::kData,
                "an array of " + std::string(name_of(dtype)) + " was read as " + std::string(name_of(wanted)));
  }
}

}  // namespace tenon
