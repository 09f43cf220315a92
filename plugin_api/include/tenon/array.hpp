// Plain arrays in host memory: what passes between datasets, transforms, state and files without libtorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tenon {

/// Element types, named as in libtorch and safetensors.
enum class Dtype : uint8_t { kBool, kUint8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBfloat16, kFloat32, kFloat64 };

/// Bytes of one element.
[[nodiscard]] std::size_t size_of(Dtype dtype) noexcept;

/// "uint8", "float32", …: the spelling in pipelines, manifests and messages.
[[nodiscard]] std::string_view name_of(Dtype dtype) noexcept;

/// The type of that name, or nothing.
[[nodiscard]] std::optional<Dtype> dtype_of(std::string_view name) noexcept;

/// The enumerator of a C++ element type: `dtype_for<float>()` is kFloat32.
template <class T>
[[nodiscard]] constexpr Dtype dtype_for() noexcept;

using Shape = std::vector<int64_t>;

/// Number of elements; 1 for a scalar's empty shape.
[[nodiscard]] int64_t elements(std::span<const int64_t> shape) noexcept;

/// Contiguous, row-major memory on the host that somebody else owns. An Array is a view: copying it copies no data.
struct Array {
  void* data = nullptr;
  Dtype dtype = Dtype::kUint8;
  std::span<const int64_t> shape;

  [[nodiscard]] int64_t elements() const noexcept { return tenon::elements(shape); }
  [[nodiscard]] std::size_t bytes() const noexcept { return static_cast<std::size_t>(elements()) * size_of(dtype); }

  /// The elements as T. \throws Error (kData) when T is not the array's type, naming both.
  template <class T>
  [[nodiscard]] std::span<T> as() const {
    require(dtype_for<T>());
    return {static_cast<T*>(data), static_cast<std::size_t>(elements())};
  }

 private:
  void require(Dtype wanted) const;
};

template <class T>
constexpr Dtype dtype_for() noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return Dtype::kBool;
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    return Dtype::kUint8;
  } else if constexpr (std::is_same_v<T, int8_t>) {
    return Dtype::kInt8;
  } else if constexpr (std::is_same_v<T, int16_t>) {
    return Dtype::kInt16;
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return Dtype::kInt32;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return Dtype::kInt64;
  } else if constexpr (std::is_same_v<T, float>) {
    return Dtype::kFloat32;
  } else {
    static_assert(std::is_same_v<T, double>, "no Dtype stands for this C++ type");
    return Dtype::kFloat64;
  }
}

}  // namespace tenon
