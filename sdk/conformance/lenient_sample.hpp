// A sample that takes whatever a stage writes, so that what it writes can be judged afterwards.
#pragma once

#include <string>
#include <utility>

#include <tenon/error.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::conformance {

class LenientSample final : public Sample {
 public:
  /// `out` gives positions their names, and nothing else.
  LenientSample(harness::MemorySample in, Spec out) : sample_(std::move(in)), out_(std::move(out)) {}

  [[nodiscard]] const harness::MemorySample& sample() const noexcept { return sample_; }

  [[nodiscard]] Array at(int field) const override { return sample_.at(field); }
  [[nodiscard]] Array at(std::string_view name) const override { return sample_.at(name); }

  [[nodiscard]] Array allocate(int field, Dtype dtype, std::span<const int64_t> shape) override {
    if (field < 0 || static_cast<std::size_t>(field) >= out_.size()) {
      throw Error(ErrorCode::kData, "the output has no field " + std::to_string(field));
    }
    return allocate(out_[static_cast<std::size_t>(field)].name, dtype, shape);
  }
  [[nodiscard]] Array allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) override {
    return sample_.allocate(name, dtype, shape);
  }

 private:
  harness::MemorySample sample_;
  Spec out_;
};

/// What a sample holds after a stage: fields of `out` as they were written, or else as they were before. Those that
/// neither is are left out.
inline std::vector<std::pair<std::string, Array>> fields_after(const LenientSample& sample, const Spec& out) {
  std::vector<std::pair<std::string, Array>> fields;
  const Spec in = sample.sample().fields();
  for (const FieldSpec& field : out) {
    if (sample.sample().wrote(field.name)) {
      fields.emplace_back(field.name, sample.sample().written_array(field.name));
    } else if (find(in, field.name) != nullptr) {
      fields.emplace_back(field.name, sample.sample().at(field.name));
    }
  }
  return fields;
}

}  // namespace tenon::conformance
