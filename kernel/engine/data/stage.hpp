// One stage of a stream, dataset or transform, and the Sample that it works on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <core/process/breadcrumb.hpp>
#include <engine/data/memory.hpp>
#include <tenon/components/multi_sample.hpp>
#include <tenon/components/partial_read.hpp>
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
  std::span<const int64_t> shape;  ///< `own`, or the shape of a value or field that lives longer
  Shape own;
  bool set = false;

  /// Takes a shape over, and shows it.
  void keep(std::span<const int64_t> sizes) {
    own.assign(sizes.begin(), sizes.end());
    shape = own;
  }
};

/// What a stage is, worked out once before any sample.
struct Stage {
  /// What is known of a field before any sample.
  struct Field {
    bool fixed = false;     ///< every axis is
    Shape shape;            ///< when fixed
    std::size_t bytes = 0;  ///< of a value, when fixed
  };
  /// Two axes whose symbol is the same.
  struct Twin {
    std::size_t field = 0;
    std::size_t axis = 0;
    std::size_t first_field = 0;
    std::size_t first_axis = 0;
  };

  std::string node;
  std::string component;                 ///< "transform:random_shift"
  uint64_t key = 0;                      ///< name_key(node)
  const Transform* transform = nullptr;  ///< nullptr: the dataset
  const MultiSample* multi = nullptr;    ///< of the transform, where it takes further samples
  int64_t others = 0;                    ///< how many it takes
  const core::Callee* callee = nullptr;  ///< What crash reports call the component
  Spec spec = {};                        ///< what comes out
  std::vector<int> source = {};          ///< for each field of `spec` its position in the input's spec, or -1
  std::vector<Field> fields = {};        ///< by position in `spec`
  std::vector<Twin> twins = {};          ///< axes that must agree within a sample

  /// Works out `source`, `fields` and `twins` from `spec` and what comes in.
  void plan(const Spec& in);
};

/// The part of one field that a stage holds in place of the whole.
struct Part {
  int field = -1;
  Extent whole;
  Region region;
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

  /// From here on that field is allocated in the size of the region: the spec's sizes are those of the whole.
  /// \throws Error (kData) when the whole contradicts the spec.
  void take_part(const Part& part);

  /// After the call: hands on what the stage did not allocate, and holds all values against the spec.
  /// \throws Error (kData)
  void finish();

  /// Whether the stage allocated the field.
  [[nodiscard]] bool wrote(int field) const noexcept { return out_[static_cast<std::size_t>(field)].set; }

 private:
  [[nodiscard]] bool fits(std::size_t field, Dtype dtype, std::span<const int64_t> shape) const noexcept;
  void hand_on(std::size_t field);
  void check_twins() const;

  const Stage& stage_;
  const Spec& in_spec_;
  std::span<const Value> in_;
  std::span<Value> out_;
  Arena& arena_;
  Destination* destination_;
  std::optional<Part> part_;
};

/// A finished sample of a stage, for reading alone.
class FinishedSample final : public Sample {
 public:
  FinishedSample(const Spec& spec, std::span<const Value> values) noexcept : spec_(&spec), values_(values) {}

  [[nodiscard]] Array at(int field) const override;
  [[nodiscard]] Array at(std::string_view name) const override;
  /// \throws Error (kData) always.
  [[nodiscard]] Array allocate(int field, Dtype dtype, std::span<const int64_t> shape) override;
  [[nodiscard]] Array allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) override;

 private:
  const Spec* spec_;
  std::span<const Value> values_;
};

}  // namespace tenon::engine
