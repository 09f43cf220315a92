// Everything that a component lets one see, in the order in which it was seen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <tenon/array.hpp>
#include <tenon/spec.hpp>

namespace tenon::conformance {

/// A record that can be compared bit by bit.
class Seen {
 public:
  void add(std::string label, std::string_view bytes) { items_.emplace_back(std::move(label), std::string(bytes)); }
  void add(std::string label, double number);
  void add(std::string label, const Array& array);
  void add(std::string label, const at::Tensor& tensor);
  void add(const std::string& label, const Spec& spec);
  void add(const Seen& other) { items_.insert(items_.end(), other.items_.begin(), other.items_.end()); }

  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }

  /// The first thing that differs, in words; empty when all are equal.
  [[nodiscard]] std::string difference(const Seen& other) const;

  friend bool operator==(const Seen&, const Seen&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

}  // namespace tenon::conformance
