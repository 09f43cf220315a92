// A sample as one run of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <split/sample_bytes.hpp>
#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon::datasets {

/// Field by field the sizes of its axes, int64, and its elements, filled up to a multiple of 8 bytes.
class RecordLayout {
 public:
  explicit RecordLayout(Spec fields);

  /// Bytes of a record where every axis of every field is fixed.
  [[nodiscard]] std::optional<std::size_t> fixed_bytes() const noexcept { return fixed_; }

  /// Appends a sample. [any thread]
  void append(const SampleBytes& sample, std::vector<std::byte>& to) const;

  /// Writes the fields of a record that append() made. [any thread]
  void read(const std::byte* record, Sample& out) const;

  /// Where each field's elements lie in such a record; where every axis is fixed, in any of fixed_bytes(). [any thread]
  void view(const std::byte* record, std::span<const std::byte*> fields) const noexcept;

  /// The sizes of a field's axes in such a record.
  [[nodiscard]] Shape shape(const std::byte* record, std::size_t field) const;

 private:
  Spec fields_;
  std::optional<std::size_t> fixed_;
  std::vector<std::size_t> offsets_;  // of the fields' elements, where every axis is fixed
};

}  // namespace tenon::datasets
