// A sample that lives in memory of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon::harness {

/// Offers the fields that were set, and keeps what the stage allocates. One thread; copies share nothing.
///
///   MemorySample sample;
///   sample.set<float>("image", {1, 2, 2}, {0, 1, 2, 3});
///   transform.apply(sample, random, {});
///   sample.written<float>("image");
class MemorySample final : public Sample {
 public:
  /// `out`: the stage's output, to which positions given to allocate() refer and which its types and shapes must fit.
  /// Without it, anything may be written under a name.
  explicit MemorySample(Spec out = {}) : out_(std::move(out)) {}

  /// Adds a field, or replaces the one of that name.
  template <class T>
  void set(const std::string& name, const Shape& shape, const std::vector<T>& values) {
    const Array array = add(name, dtype_for<T>(), shape);
    std::copy(values.begin(), values.end(), array.as<T>().begin());
  }

  /// Memory for a field of the input, to be filled by the caller.
  Array add(const std::string& name, Dtype dtype, const Shape& shape);

  /// What the stage wrote. \throws Error (kData) for a field that it did not write, or of another type.
  template <class T>
  [[nodiscard]] std::vector<T> written(const std::string& name) const {
    const std::span<T> values = written_array(name).template as<T>();
    return {values.begin(), values.end()};
  }
  [[nodiscard]] Array written_array(const std::string& name) const;
  [[nodiscard]] Shape written_shape(const std::string& name) const;
  [[nodiscard]] bool wrote(const std::string& name) const { return written_.contains(name); }
  [[nodiscard]] std::size_t written_fields() const { return written_.size(); }

  /// The fields of the input, in the order in which they were set, with their shapes.
  [[nodiscard]] Spec fields() const;

  /// The sample that the next stage sees: fields of `out` with what was written, or else with what was there.
  /// \throws Error (kData) for a field that neither has.
  [[nodiscard]] MemorySample next(const Spec& out, Spec next_out = {}) const;

  [[nodiscard]] Array at(int field) const override;
  [[nodiscard]] Array at(std::string_view name) const override;

  /// Filled with 0xAB first: a stage must write every byte.
  [[nodiscard]] Array allocate(int field, Dtype dtype, std::span<const int64_t> shape) override;
  [[nodiscard]] Array allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) override;

 private:
  struct Value {
    Dtype dtype = Dtype::kUint8;
    Shape shape;
    mutable std::vector<std::byte> bytes;
  };

  static Array view(const Value& value) { return {value.bytes.data(), value.dtype, value.shape}; }
  static Array store(Value& value, Dtype dtype, Shape shape);

  Spec out_;
  std::map<std::string, Value, std::less<>> in_;
  std::map<std::string, Value, std::less<>> written_;
  std::vector<std::string> order_;
};

}  // namespace tenon::harness
