// Named tensors: what passes between the nodes of the step plane.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <tenon/array.hpp>

namespace tenon {

/// A short list of tensors by name, in order of insertion.
class Tensors {
 public:
  using Entry = std::pair<std::string, at::Tensor>;

  Tensors() = default;
  Tensors(std::initializer_list<Entry> entries) : entries_(entries) {}

  /// \throws Error (kConfig) that lists the names there are.
  [[nodiscard]] const at::Tensor& at(std::string_view name) const;

  /// The tensor of that name, or nullptr.
  [[nodiscard]] const at::Tensor* find(std::string_view name) const noexcept;

  /// Adds, or replaces the tensor of that name.
  void set(std::string_view name, at::Tensor tensor);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

/// The same element type in libtorch's words, and back. \throws Error (kConfig) for a type that has no counterpart.
[[nodiscard]] at::ScalarType scalar_type(Dtype dtype);
[[nodiscard]] Dtype dtype_of(at::ScalarType type);

}  // namespace tenon
