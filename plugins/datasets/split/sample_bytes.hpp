// A sample that a dataset reads for another one: its bytes, field by field.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <tenon/array.hpp>
#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon::datasets {

/// Keeps what a dataset allocates; read into it again and again, it reuses its memory.
class SampleBytes final : public Sample {
 public:
  explicit SampleBytes(Spec spec) : spec_(std::move(spec)), fields_(spec_.size()) {}

  /// A dataset has no fields to take in. \throws Error (kData) always.
  [[nodiscard]] Array at(int field) const override;
  [[nodiscard]] Array at(std::string_view name) const override;

  [[nodiscard]] Array allocate(int field, Dtype dtype, std::span<const int64_t> shape) override;
  [[nodiscard]] Array allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) override;

  /// Shape and elements of a field as one run of bytes.
  [[nodiscard]] std::span<const std::byte> field(int position) const {
    return fields_[static_cast<std::size_t>(position)].bytes;
  }

 private:
  struct Field {
    Shape shape;
    std::vector<std::byte> bytes;
  };

  Spec spec_;
  std::vector<Field> fields_;
};

}  // namespace tenon::datasets
