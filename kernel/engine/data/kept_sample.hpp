// A sample that stays in memory behind a stream, and goes into the next one from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <engine/data/stage.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/spec.hpp>

namespace tenon::engine {

/// Takes one sample after the other into the same memory. One thread.
class KeptSample final : public Destination {
 public:
  explicit KeptSample(const Spec& fields) : fields_(fields), memory_(fields.size()), values_(fields.size()) {}

  [[nodiscard]] void* place(int field, std::span<const int64_t> shape) override;

  [[nodiscard]] const Spec& fields() const noexcept { return fields_; }

  /// Of the sample that came last, in the order of the fields.
  [[nodiscard]] std::span<const Value> values() const noexcept { return values_; }

 private:
  Spec fields_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<Value> values_;
};

/// A dataset whose every item is the sample that `sample` holds at the moment. One thread.
class KeptDataset final : public Dataset {
 public:
  /// `sample` outlives it.
  explicit KeptDataset(const KeptSample& sample) : sample_(sample) {}

  [[nodiscard]] Spec spec() const override { return sample_.fields(); }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return 1; }
  [[nodiscard]] std::string fingerprint() const override { return {}; }
  void read(int64_t index, Sample& out) const override;

 private:
  const KeptSample& sample_;
};

}  // namespace tenon::engine
