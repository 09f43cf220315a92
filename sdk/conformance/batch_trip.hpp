// One drawn batch through a transform that stands behind the loader.
#pragma once

#include <conformance/use.hpp>
#include <tenon/components/batch_transform.hpp>
#include <tenon/spec.hpp>
#include <tenon/tensors.hpp>

namespace tenon::conformance {

/// What went in and came out.
struct BatchTrip {
  Spec in;         ///< With "N" first.
  Spec promised;   ///< By spec().
  Tensors before;  ///< A copy of what went in.
  Tensors given;   ///< The tensors that went in, as they are afterwards.
  Tensors made;
};

/// Batch `index` of the trial. \throws Error of the transform.
[[nodiscard]] BatchTrip push_batch(const BatchTransform& transform, const Trial& trial, int64_t index);

/// How the batch contradicts what spec() promised; empty where it does not.
[[nodiscard]] std::string contradiction(const BatchTrip& trip);

/// The field that was changed in place; empty where none was.
[[nodiscard]] std::string changed_field(const BatchTrip& trip);

}  // namespace tenon::conformance
