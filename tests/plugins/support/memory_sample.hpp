// A sample that lives in memory of its own, for one stage.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon::test {

/// Offers the fields that were set, and keeps what the stage allocates.
class MemorySample final : public Sample {
 public:
  /// `out`: the stage's output, to which positions given to allocate() refer.
  explicit MemorySample(Spec out = {}) : out_(std::move(out)) {}

  template <class T>
  void set(const std::string& name, const Shape& shape, const std::vector<T>& values) {
    const Array array = store(in_[name], dtype_for<T>(), shape);
    std::copy(values.begin(), values.end(), array.as<T>().begin());
    order_.push_back(name);
  }

  /// What the stage wrote.
  template <class T>
  [[nodiscard]] std::vector<T> written(const std::string& name) const {
    const std::span<T> values = view(written_.at(name)).template as<T>();
    return {values.begin(), values.end()};
  }
  [[nodiscard]] Shape written_shape(const std::string& name) const { return written_.at(name).shape; }
  [[nodiscard]] std::size_t written_fields() const { return written_.size(); }

  [[nodiscard]] Array at(int field) const override { return at(order_.at(static_cast<std::size_t>(field))); }
  [[nodiscard]] Array at(std::string_view name) const override { return view(in_.at(std::string(name))); }
  [[nodiscard]] Array allocate(int field, Dtype dtype, std::span<const int64_t> shape) override {
    return allocate(out_.at(static_cast<std::size_t>(field)).name, dtype, shape);
  }
  /// Filled with 0xAB first: a stage must write every byte.
  [[nodiscard]] Array allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) override {
    return store(written_[std::string(name)], dtype, {shape.begin(), shape.end()});
  }

 private:
  struct Value {
    Dtype dtype = Dtype::kUint8;
    Shape shape;
    mutable std::vector<std::byte> bytes;
  };

  static Array view(const Value& value) { return {value.bytes.data(), value.dtype, value.shape}; }

  static Array store(Value& value, Dtype dtype, Shape shape) {
    value.dtype = dtype;
    value.shape = std::move(shape);
    value.bytes.assign(static_cast<std::size_t>(elements(value.shape)) * size_of(dtype), std::byte{0xAB});
    return view(value);
  }

  Spec out_;
  std::map<std::string, Value> in_;
  std::map<std::string, Value> written_;
  std::vector<std::string> order_;
};

}  // namespace tenon::test
