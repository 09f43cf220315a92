// Slots for trained values and for buffers: authors hold slots, never tensors, so that the engine may put any value
// there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace tenon::nn {

class Module;

/// Fills a fresh tensor in place with numbers from a generator that is keyed by (seed, node, parameter name): initial
/// values do not depend on the order in which modules are built.
using Init = std::function<void(at::Tensor& value, const at::Generator& random)>;

/// A trained tensor. On the meta device until the engine gives it memory: shapes can be checked before any is spent.
class Param {
 public:
  /// Registers with `owner` under `name`, unique among the owner's slots. The owner outlives the slot.
  Param(Module* owner, std::string name, std::vector<int64_t> shape, Init init);
  Param(const Param&) = delete;
  Param& operator=(const Param&) = delete;

  /// The value that forward shall use now.
  [[nodiscard]] const at::Tensor& value() const noexcept { return value_; }
  // NOLINTNEXTLINE(google-explicit-constructor): a slot reads as its tensor
  operator const at::Tensor&() const noexcept { return value_; }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<int64_t>& shape() const noexcept { return shape_; }

  /// For the engine: puts a value of the same shape. \throws Error (kConfig) for another shape.
  void set(at::Tensor value);

  /// For the engine: fills `value` with fresh initial numbers.
  void initialize(at::Tensor& value, const at::Generator& random) const { init_(value, random); }

 private:
  std::string name_;
  std::vector<int64_t> shape_;
  Init init_;
  at::Tensor value_;
};

/// A tensor that is kept and saved but not trained, such as a running mean. Modules update it in place. In a run that
/// keeps its parameters in a wider floating type than `dtype`, a floating buffer has that type too.
class Buffer {
 public:
  Buffer(Module* owner, std::string name, std::vector<int64_t> shape, at::ScalarType dtype, double fill);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] const at::Tensor& value() const noexcept { return value_; }
  // NOLINTNEXTLINE(google-explicit-constructor): a slot reads as its tensor
  operator const at::Tensor&() const noexcept { return value_; }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<int64_t>& shape() const noexcept { return shape_; }

  /// As it was declared.
  [[nodiscard]] at::ScalarType dtype() const noexcept { return dtype_; }

  /// What each element starts with.
  [[nodiscard]] double fill() const noexcept { return fill_; }

  /// For the engine: puts a value of the same shape and type, where any floating type stands for another. \throws Error
  /// (kConfig) for another.
  void set(at::Tensor value);

 private:
  std::string name_;
  std::vector<int64_t> shape_;
  at::ScalarType dtype_;
  double fill_;
  at::Tensor value_;
};

}  // namespace tenon::nn
