// One stage of a stream, dataset or transform, and the Sample that it works on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <core/process/breadcrumb.hpp>
#include <engine/data/memory.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon::engine {

/// Where the last stage's values go: one sample's place in a batch.
class Destination {
 public:
  /// Memory for field `field` of the stream's fields in this shape, which fits the field's spec. nullptr when the batch
  /// holds another shape on a free axis; the value is then made in scratch and the batch reports the difference.
  [[nodiscard]] virtual void* place(int field, std::span<const int64_t> shape) = 0;

 protected:
  ~Destination() = default;
};

/// The value of one field behind a stage. Its element type is that of the stage's spec.
struct Value {
  void* data = nullptr;
  Shape shape;
  bool set = false;
};

/// What a stage is, worked out once before any sample.
struct Stage {
  std::string node;
  std::string component;                 ///< "transform:random_shift"
  uint64_t key = 0;                      ///< name_key(node)
  const Transform* transform = nullptr;  ///< nullptr: the dataset
  const core::Callee* callee = nullptr;  ///< What crash reports call the component
  Spec spec;                             ///< what comes out
  std::vector<int> source;               ///< for each field of `spec` its position in the input's spec, or -1
};

/// The Sample of one call of one stage. A field allocated twice in a call keeps its memory and its shape.
class StageSample final : public Sample {
 public:
  /// `in` are the values behind the stage before, by `in_spec`; `out` receives this stage's. With a destination this is
  /// the last stage: its values are made there.
  StageSample(const Stage& stage, const Spec& in_spec, std::span<const Value> in, std::span<Value> out, Arena& arena,
              Destination* destination);

  [[nodiscard]] Array at(int field) const override;
  [[nodiscard]] Array at(std::string_view name) const override;
  [[nodiscard]] Array allocate(int field, Dtype dtype, std::span<const int64_t> shape) override;
  [[nodiscard]] Array allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) override;

  /// After the call: hands on what the stage did not allocate, and holds all values against the spec.
  /// \throws Error (kData)
  void finish();

 private:
  void check_symbols() const;

  const Stage& stage_;
  const Spec& in_spec_;
  std::span<const Value> in_;
  std::span<Value> out_;
  Arena& arena_;
  Destination* destination_;
};

}  // namespace tenon::engine
