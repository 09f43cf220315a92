// Draws further samples from what the sample itself was drawn from.
#include <conformance/apply.hpp>

#include <algorithm>

#include <tenon/components/multi_sample.hpp>
#include <tenon/error.hpp>

namespace tenon::conformance {
namespace {

constexpr int64_t kMost = 64;  // enough for any grid of images

}  // namespace

std::vector<harness::MemorySample> others_for(Transform& transform, const Trial& trial, int64_t index) {
  std::vector<harness::MemorySample> others;
  const auto* const multi = harness::ability<MultiSample>(transform);
  if (multi == nullptr) return others;
  const int64_t count = multi->others();
  if (count < 0 || count > kMost) {
    throw Error(ErrorCode::kPlugin,
                "others() is " + std::to_string(count) + ", and may be 0 to " + std::to_string(kMost));
  }
  // Every sixth has whole numbers beyond the bounds: those are not taken.
  for (int64_t i = 0; i < count; ++i) others.push_back(draw_sample(trial.inputs, trial.seed, 6 * (1 + index + 7 * i)));
  return others;
}

void apply(Transform& transform, LenientSample& sample, const Trial& trial, int64_t index, Rng& random,
           const When& when) {
  const auto* const multi = harness::ability<MultiSample>(transform);
  if (multi == nullptr) return transform.apply(sample, random, when);
  const std::vector<harness::MemorySample> others = others_for(transform, trial, index);
  std::vector<const Sample*> given;
  given.reserve(others.size());
  for (const harness::MemorySample& other : others) given.push_back(&other);
  multi->apply_with(sample, given, random, when);
}

}  // namespace tenon::conformance
