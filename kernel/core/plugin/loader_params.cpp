// What contradicts itself in the order of samples and in the making of batches, and the fields of a batch.
#include <core/plugin/loader_params.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <core/text/suggest.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

constexpr const char* kUnknownField = "unknown-field";
constexpr const char* kConflict = "conflict";
constexpr const char* kBadValue = "bad-value";
constexpr const char* kShapeMismatch = "shape-mismatch";
constexpr const char* kDtypeMismatch = "dtype-mismatch";

bool is_float(Dtype dtype) {
  return dtype == Dtype::kFloat16 || dtype == Dtype::kBfloat16 || dtype == Dtype::kFloat32 || dtype == Dtype::kFloat64;
}

std::vector<Dim> free_dims(const FieldSpec& field) {
  std::vector<Dim> dims;
  std::copy_if(field.shape.begin(), field.shape.end(), std::back_inserter(dims),
               [](const Dim& dim) { return !dim.fixed(); });
  return dims;
}

/// Whether the number is one of the type's: -1 is no uint8, 0.5 no int64.
bool is_value_of(double value, Dtype dtype) {
  const auto within = [&](double low, double high) {
    return value == std::floor(value) && value >= low && value <= high;
  };
  switch (dtype) {
    case Dtype::kBool: return value == 0 || value == 1;
    case Dtype::kUint8: return within(0, 255);
    case Dtype::kInt8: return within(-128, 127);
    case Dtype::kInt16: return within(-32768, 32767);
    case Dtype::kInt32: return within(-0x1p31, 0x1p31 - 1);
    case Dtype::kInt64: return within(-0x1p53, 0x1p53);
    case Dtype::kFloat16: return std::abs(value) <= 65504;
    case Dtype::kBfloat16:
    case Dtype::kFloat32: return std::abs(value) <= std::numeric_limits<float>::max();
    case Dtype::kFloat64: return true;
  }
  return false;
}

/// Collects faults, and finds fields by name.
class Faults {
 public:
  explicit Faults(const KnownFields& fields) : fields_(fields) {
    for (const FieldSpec& field : fields.typed) names_.push_back(field.name);
    names_.insert(names_.end(), fields.untyped.begin(), fields.untyped.end());
  }

  void add(std::string pointer, const char* code, std::string message, std::string label = {}) {
    all_.push_back({std::move(pointer), code, std::move(message), {}, {}, std::move(label)});
  }

  /// The field, where its type is known. Reports one that there is not. `whose` has the fields: "the dataset".
  const FieldSpec* field(const std::string& pointer, const std::string& name, std::string_view whose) {
    if (const FieldSpec* const typed = find(fields_.typed, name)) return typed;
    if (fields_.open || has(name)) return nullptr;
    all_.push_back({pointer,
                    kUnknownField,
                    fmt::format("there is no field {} in {}", core::quoted(name), whose),
                    name,
                    names_,
                    {}});
    return nullptr;
  }

  /// A field that the batch has besides: its name is free.
  void take_name(const std::string& pointer, const std::string& name) {
    if (name.empty()) {
      add(pointer, kBadValue, "a field has a name");
    } else if (has(name)) {
      add(pointer, kConflict, fmt::format("there is a field {} already", core::quoted(name)), "choose another name");
    } else {
      names_.push_back(name);
    }
  }

  std::vector<ParamFault> take() { return std::move(all_); }

 private:
  [[nodiscard]] bool has(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }

  const KnownFields& fields_;
  std::vector<std::string> names_;
  std::vector<ParamFault> all_;
};

void check_sampler(bool shuffle, const SamplerParams& sampler, Faults& faults) {
  if (sampler.weights && sampler.balance) {
    faults.add("/sampler/balance", kConflict, "a sampler has weights or balance, not both", "remove one of them");
  }
  if (shuffle && sampler.draws()) {
    faults.add("/shuffle", kConflict, "what the sampler draws has no order that could be shuffled",
               "remove \"shuffle\"");
  }
  if ((sampler.weights || sampler.balance) && !sampler.replaces() && !sampler.samples) {
    faults.add("/sampler/replacement", kConflict, "without replacement each sample comes once, whatever its weight",
               "say how many to draw: \"samples\"");
  }
  if (sampler.weights) {
    const FieldSpec* const field = faults.field("/sampler/weights", *sampler.weights, "the dataset");
    const bool is_number = field != nullptr && field->dtype != Dtype::kBool && field->dtype != Dtype::kFloat16 &&
                           field->dtype != Dtype::kBfloat16;
    if (field != nullptr && (!field->shape.empty() || !is_number)) {
      faults.add("/sampler/weights", field->shape.empty() ? kDtypeMismatch : kShapeMismatch,
                 fmt::format("a weight is a number, but field {} is {}", core::quoted(field->name), to_string(*field)));
    }
  }
  if (sampler.balance && !sampler.weights) {
    const FieldSpec* const field = faults.field("/sampler/balance", *sampler.balance, "the dataset");
    if (field == nullptr) return;
    const bool is_text = field->dtype == Dtype::kUint8 && field->shape.size() == 1 && !field->shape[0].fixed();
    if (!is_text && !field->shape.empty()) {
      faults.add("/sampler/balance", kShapeMismatch,
                 fmt::format("a class is a whole number or a text, but field {} is {}", core::quoted(field->name),
                             to_string(*field)));
    } else if (is_float(field->dtype)) {
      faults.add("/sampler/balance", kDtypeMismatch,
                 fmt::format("a class is a whole number or a text, but field {} is {}", core::quoted(field->name),
                             to_string(*field)));
    }
  }
}

void check_buckets(const BucketParams& buckets, Faults& faults) {
  for (std::size_t i = 1; i < buckets.bounds.size(); ++i) {
    if (buckets.bounds[i] <= buckets.bounds[i - 1]) {
      faults.add(fmt::format("/buckets/bounds/{}", i), kBadValue,
                 fmt::format("bounds ascend, but {} is not more than {}", buckets.bounds[i], buckets.bounds[i - 1]));
    }
  }
  const FieldSpec* const field = faults.field("/buckets/field", buckets.field, "the dataset");
  if (field == nullptr) return;
  if (field->shape.empty() || field->shape.front().fixed()) {
    faults.add(
        "/buckets/field", kShapeMismatch,
        fmt::format("field {} is {}: no sample is longer than another", core::quoted(field->name), to_string(*field)),
        "name a field whose first axis is free");
  }
}

void check_pad(const PadParams& pad, const std::string& pointer, Faults& faults) {
  if (pad.to && pad.multiple != 1) {
    faults.add(pointer + "/multiple", kConflict, "a size that is given is not rounded",
               "remove \"multiple\", or let \"to\" be \"longest\"");
  }
  const FieldSpec* const field = faults.field(pointer + "/field", pad.field, "the samples");
  if (field != nullptr) {
    if (free_dims(*field).empty()) {
      faults.add(pointer + "/field", kShapeMismatch,
                 fmt::format("field {} is {}: all samples have this shape, so none is padded",
                             core::quoted(field->name), to_string(*field)),
                 "remove it from \"pad\"");
    }
    if (!is_value_of(pad.value, field->dtype)) {
      faults.add(pointer + "/value", kBadValue,
                 fmt::format("field {} is {}, which has no value {}", core::quoted(field->name), name_of(field->dtype),
                             pad.value));
    }
  }
  if (pad.length) faults.take_name(pointer + "/length", *pad.length);
  if (pad.mask) faults.take_name(pointer + "/mask", *pad.mask);
}

const PadParams* pad_of(std::span<const PadParams> pads, const std::string& field) {
  const auto found = std::find_if(pads.begin(), pads.end(), [&](const PadParams& pad) { return pad.field == field; });
  return found == pads.end() ? nullptr : &*found;
}

bool contains(std::span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<ParamFault> order_faults(bool shuffle, const std::optional<SamplerParams>& sampler,
                                     const std::optional<BucketParams>& buckets, const KnownFields& dataset) {
  Faults faults(dataset);
  if (sampler) check_sampler(shuffle, *sampler, faults);
  if (buckets) check_buckets(*buckets, faults);
  return faults.take();
}

std::vector<ParamFault> collation_faults(std::span<const PadParams> pad, std::span<const std::string> lists,
                                         const KnownFields& sample) {
  Faults faults(sample);
  for (std::size_t i = 0; i < pad.size(); ++i) {
    const std::string pointer = fmt::format("/pad/{}", i);
    if (pad_of(pad.first(i), pad[i].field) != nullptr) {
      faults.add(pointer + "/field", kConflict, fmt::format("field {} is padded already", core::quoted(pad[i].field)));
      continue;
    }
    check_pad(pad[i], pointer, faults);
  }
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::string pointer = fmt::format("/lists/{}", i);
    if (contains(lists.first(i), lists[i])) {
      faults.add(pointer, kConflict, fmt::format("field {} is a list already", core::quoted(lists[i])));
      continue;
    }
    if (pad_of(pad, lists[i]) != nullptr) {
      faults.add(pointer, kConflict,
                 fmt::format("field {} is padded: it cannot be kept as a list too", core::quoted(lists[i])));
      continue;
    }
    const FieldSpec* const field = faults.field(pointer, lists[i], "the samples");
    if (field != nullptr && field->shape.empty()) {
      faults.add(pointer, kShapeMismatch,
                 fmt::format("field {} is {}: it has no axis along which samples could be joined",
                             core::quoted(field->name), to_string(*field)));
    }
    faults.take_name(pointer, lengths_name(lists[i]));
  }
  return faults.take();
}

Spec batch_fields(std::span<const PadParams> pad, std::span<const std::string> lists, const Spec& sample, bool all) {
  const std::vector<ParamFault> faults = collation_faults(pad, lists, {sample, {}, !all});
  if (!faults.empty()) throw Error(ErrorCode::kConfig, faults.front().message, faults.front().pointer);
  Spec batch = sample;
  for (FieldSpec& field : batch) {
    if (contains(lists, field.name)) {
      field.shape.front() = Dim();
      continue;
    }
    if (const PadParams* const padded = pad_of(pad, field.name); padded != nullptr && padded->to) {
      for (Dim& dim : field.shape) {
        if (!dim.fixed()) dim = Dim(*padded->to);
      }
    }
    field.shape.insert(field.shape.begin(), Dim("N"));
  }
  for (const PadParams& each : pad) {
    const FieldSpec* const field = find(sample, each.field);
    std::vector<Dim> axes = field == nullptr ? std::vector<Dim>() : free_dims(*field);
    if (each.length) {
      std::vector<Dim> shape{Dim("N")};
      if (axes.size() > 1) shape.emplace_back(static_cast<int64_t>(axes.size()));
      batch.push_back({*each.length, Dtype::kInt64, std::move(shape)});
    }
    if (each.mask) {
      if (each.to) std::fill(axes.begin(), axes.end(), Dim(*each.to));
      axes.insert(axes.begin(), Dim("N"));
      batch.push_back({*each.mask, Dtype::kBool, std::move(axes)});
    }
  }
  for (const std::string& list : lists) batch.push_back({lengths_name(list), Dtype::kInt64, {Dim("N")}});
  return batch;
}

std::string lengths_name(const std::string& list) { return list + "_lengths"; }

}  // namespace tenon::core
