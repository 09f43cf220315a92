// Parameters of `loader:threads` that say which samples make an epoch, and how samples become batches; and what of them
// can be held against the fields of a stream before anything is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tenon/params.hpp>
#include <tenon/spec.hpp>

namespace tenon::core {

/// Which samples an epoch draws. Fields are those of the dataset that the stream begins with, before any transform.
struct SamplerParams {
  std::optional<std::string> weights;  ///< Scalar field: a sample is drawn in proportion to it.
  std::optional<std::string> balance;  ///< Scalar or text field: its values are the classes, each drawn equally often.
  std::optional<bool> replacement;     ///< Empty: with weights or balance a sample may come again, else not.
  std::optional<int64_t> samples;      ///< Of one epoch; empty: as many as the dataset has.

  /// Whether a sample may come more than once in an epoch.
  [[nodiscard]] bool replaces() const noexcept { return replacement.value_or(weights || balance); }

  /// Whether chance decides beyond `shuffle`.
  [[nodiscard]] bool draws() const noexcept { return weights || balance || replaces(); }

  TENON_PARAMS(
      SamplerParams,
      tenon::field(&SamplerParams::weights, "weights",
                   "Scalar field of the dataset: a sample is drawn in proportion to it")
          .word("none"),
      tenon::field(&SamplerParams::balance, "balance",
                   "Field of the dataset whose values are classes: each class is drawn equally often")
          .word("none"),
      tenon::field(&SamplerParams::replacement, "replacement",
                   "A sample may come again within an epoch; auto: with weights or balance, else not"),
      tenon::field(&SamplerParams::samples, "samples", "Samples of one epoch; auto: as many as the dataset has").min(1))
};

/// Samples of differing size in a batch: all free axes of the field are filled up to one size.
struct PadParams {
  std::string field;
  double value = 0;                   ///< Put where a sample has nothing.
  std::optional<std::string> length;  ///< New field of the sizes before: int64 [], or [axes] of several free axes.
  std::optional<std::string> mask;    ///< New field, bool over the padded axes: true where the sample's own values are.
  std::optional<int64_t> to;          ///< Size of each padded axis; empty: the largest of the batch.
  int64_t multiple = 1;               ///< The largest of the batch is rounded up to a multiple.

  TENON_PARAMS(
      PadParams, tenon::field(&PadParams::field, "field", "Field whose free axes are filled up to one size").required(),
      tenon::field(&PadParams::value, "value", "Value put where a sample has none"),
      tenon::field(&PadParams::length, "length", "Name for a new field: each sample's size before, int64").word("none"),
      tenon::field(&PadParams::mask, "mask", "Name for a new field, bool: true where a sample has values").word("none"),
      tenon::field(&PadParams::to, "to",
                   "Size of the padded axes; a larger sample is an error; longest: the largest of each batch")
          .word("longest")
          .min(1),
      tenon::field(&PadParams::multiple, "multiple", "Where to is longest: rounded up to a multiple of this").min(1))
};

/// Batches of samples of similar length, so that little is padded.
struct BucketParams {
  std::string field;            ///< Of the dataset; its first axis is the length.
  std::vector<int64_t> bounds;  ///< Lengths below which a bucket ends; empty: sorted by length itself.
  int64_t pool = 50;            ///< Batches whose samples are sorted among themselves.

  TENON_PARAMS(
      BucketParams,
      tenon::field(&BucketParams::field, "field", "Field of the dataset whose first axis is the length").required(),
      tenon::field(&BucketParams::bounds, "bounds",
                   "Lengths, ascending, at each of which a bucket begins; none: sorted by length")
          .min(1),
      tenon::field(&BucketParams::pool, "pool", "Batches whose samples are sorted among themselves")
          .min(2)
          .max(1 << 20))
};

/// What becomes of a sample that cannot be made, where the run does not end.
enum class BadSamplePolicy { kSkip, kSubstitute };
TENON_ENUM(BadSamplePolicy, "skip", "substitute")

struct BadSampleParams {
  BadSamplePolicy policy = BadSamplePolicy::kSkip;
  int64_t max = 1;  ///< Within an epoch, on each rank; one more ends the run.

  TENON_PARAMS(
      BadSampleParams,
      tenon::field(&BadSampleParams::policy, "policy",
                   "skip: the batch is smaller; substitute: another sample of the epoch in its place, the first that "
                   "can be made of up to 8; where none can, the run ends")
          .required(),
      tenon::field(&BadSampleParams::max, "max", "Bad samples of an epoch on a rank; one more ends the run")
          .required()
          .min(1))
};

/// The parameters above, as members of LoaderParams:
///   std::optional<SamplerParams> sampler;       .word("none")
///   std::vector<PadParams> pad;
///   std::vector<std::string> lists;
///   std::optional<BucketParams> buckets;        .word("none")
///   std::optional<BadSampleParams> bad_sample;  .word("fail")

/// Something that contradicts itself or the stream.
struct ParamFault {
  std::string pointer;                  ///< Below `with`: "/pad/0/field".
  std::string code;                     ///< Of the diagnostic: "unknown-field".
  std::string message;                  ///< Without the node's name.
  std::string name;                     ///< The unknown field, where one is; else empty.
  std::vector<std::string> candidates;  ///< The fields there are, for an unknown one.
  std::string label;                    ///< What to do; may be empty.
};

/// The fields of a stream as far as they are known: those with type and shape, those with a name alone, and whether
/// there may be more.
struct KnownFields {
  Spec typed;
  std::vector<std::string> untyped;
  bool open = false;
};

/// What contradicts itself in the order, or the dataset's fields. `samples` of the dataset are not known here.
[[nodiscard]] std::vector<ParamFault> order_faults(bool shuffle, const std::optional<SamplerParams>& sampler,
                                                   const std::optional<BucketParams>& buckets,
                                                   const KnownFields& dataset);

/// What contradicts itself in pad and lists, or the fields of a sample at the loader.
[[nodiscard]] std::vector<ParamFault> collation_faults(std::span<const PadParams> pad,
                                                       std::span<const std::string> lists, const KnownFields& sample);

/// The fields of a batch: those of a sample, in their order, with the batch axis "N" first (a list has the sum of its
/// lengths there), then lengths and masks in the order of `pad`, then the lengths of the lists.
/// \throws Error (kConfig) with the pointer of the first of collation_faults, unless `sample` is not `all` that there is.
[[nodiscard]] Spec batch_fields(std::span<const PadParams> pad, std::span<const std::string> lists, const Spec& sample,
                                bool all = true);

/// Name of the lengths of a list: "boxes_lengths".
[[nodiscard]] std::string lengths_name(const std::string& list);

}  // namespace tenon::core
