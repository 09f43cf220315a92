// What flows along an edge: named fields with an element type and a shape that may hold unknowns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenon/array.hpp>

namespace tenon {

/// One axis: a fixed size, a named symbol that stands for the same size everywhere ("N"), or free.
struct Dim {
  static constexpr int64_t kUnknown = -1;

  constexpr Dim() = default;
  constexpr Dim(int64_t fixed) : size(fixed) {}       // NOLINT(google-explicit-constructor): shapes read as {1, 8, 8}
  Dim(std::string name) : symbol(std::move(name)) {}  // NOLINT(google-explicit-constructor): likewise
  Dim(const char* name) : symbol(name) {}             // NOLINT(google-explicit-constructor): likewise

  int64_t size = kUnknown;
  std::string symbol;

  [[nodiscard]] bool fixed() const noexcept { return size != kUnknown; }
  friend bool operator==(const Dim&, const Dim&) = default;
};

/// One named field of a sample, or one named tensor of a batch.
struct FieldSpec {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  std::vector<Dim> shape;
};

using Spec = std::vector<FieldSpec>;

/// The field of that name, or nullptr.
[[nodiscard]] const FieldSpec* find(const Spec& spec, std::string_view name) noexcept;

/// Position of the field of that name. \throws Error (kConfig) that lists the fields there are.
[[nodiscard]] int index_of(const Spec& spec, std::string_view name);

/// "uint8[1, 8, 8]", "float32[N, 10]": the spelling in messages. A free axis reads "?".
[[nodiscard]] std::string to_string(const FieldSpec& field);
[[nodiscard]] std::string to_string(const std::vector<Dim>& shape);

}  // namespace tenon
