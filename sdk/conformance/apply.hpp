// One sample through a transform, with further ones where it takes them.
#pragma once

#include <conformance/lenient_sample.hpp>
#include <conformance/use.hpp>
#include <tenon/components/transform.hpp>

namespace tenon::conformance {

/// Further samples for sample `index`, as a transform with the ability MultiSample gets them; empty for another one.
[[nodiscard]] std::vector<harness::MemorySample> others_for(Transform& transform, const Trial& trial, int64_t index);

/// apply(), or apply_with() with others_for().
void apply(Transform& transform, LenientSample& sample, const Trial& trial, int64_t index, Rng& random,
           const When& when);

}  // namespace tenon::conformance
