// Batches as a loader would give them, and what becomes of them.
#include <conformance/batch_trip.hpp>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <tenon/harness/samples.hpp>

namespace tenon::conformance {
namespace {

FieldSpec field_of(const std::string& name, const at::Tensor& tensor) {
  FieldSpec field{name, dtype_of(tensor.scalar_type()), {Dim("N")}};
  for (int64_t axis = 1; axis < tensor.dim(); ++axis) field.shape.emplace_back(tensor.size(axis));
  return field;
}

bool fits(const FieldSpec& promised, const at::Tensor& tensor) {
  bool same =
      dtype_of(tensor.scalar_type()) == promised.dtype && tensor.dim() == static_cast<int64_t>(promised.shape.size());
  for (std::size_t axis = 0; same && axis < promised.shape.size(); ++axis) {
    const Dim& dim = promised.shape[axis];
    same = !dim.fixed() || dim.size == tensor.size(static_cast<int64_t>(axis));
  }
  return same;
}

}  // namespace

BatchTrip push_batch(const BatchTransform& transform, const Trial& trial, int64_t index) {
  BatchTrip trip;
  trip.given = draw_batch(trial.inputs, trial.seed, index);
  for (const auto& [name, tensor] : trip.given) {
    trip.in.push_back(field_of(name, tensor));
    trip.before.set(name, tensor.clone());
  }
  trip.promised = transform.spec(trip.in);
  trip.made = trip.given;
  Rng random = harness::stream_of({trial.seed + 1000 * trial.draws, index, index / 6, 3});
  transform.apply_batch(trip.made, random, {index / 6, 3});
  return trip;
}

std::string contradiction(const BatchTrip& trip) {
  for (const FieldSpec& field : trip.promised) {
    const at::Tensor* const tensor = trip.made.find(field.name);
    if (tensor == nullptr) {
      return fmt::format("spec() names the field \"{}\", and apply_batch() does not give it", field.name);
    }
    if (fits(field, *tensor)) continue;
    return fmt::format("\"{}\" is {} by spec(), and apply_batch() gives {}", field.name, to_string(field),
                       to_string(field_of(field.name, *tensor)));
  }
  return {};
}

std::string changed_field(const BatchTrip& trip) {
  for (const auto& [name, tensor] : trip.given) {
    if (!tensor.equal(trip.before.at(name))) return name;
  }
  return {};
}

}  // namespace tenon::conformance
