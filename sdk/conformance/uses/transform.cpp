// Transforms: samples pushed through, after learning from the first four where the transform learns.
#include <conformance/use.hpp>

#include <fmt/format.h>

#include <conformance/apply.hpp>
#include <conformance/batch_trip.hpp>
#include <conformance/lenient_sample.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/error.hpp>
#include <tenon/harness/samples.hpp>

namespace tenon::conformance {
namespace {

class UseTransform final : public UseOf<Transform> {
 public:
  using UseOf::UseOf;

  void prepare() override {
    make();
    if (harness::ability<BatchTransform>(*made_) != nullptr) return;
    std::vector<harness::MemorySample> samples;
    for (int64_t i = 0; i < 4; ++i) samples.push_back(sample(i));
    (void)made_->spec(samples.front().fields());
    harness::fit(*made_, samples);
  }

  void go(int64_t from, int64_t to, Seen& seen) override {
    if (const auto* const batched = harness::ability<BatchTransform>(*made_)) return batches(*batched, from, to, seen);
    for (int64_t i = from; i < to; ++i) {
      const harness::MemorySample in = sample(i);
      const Spec out = made_->spec(in.fields());
      seen.add(fmt::format("spec of sample {}", i), out);
      try {
        LenientSample written(in, out);
        Rng random = harness::stream_of({trial_.seed + 1000 * trial_.draws, i, i / 6, 3});
        apply(*made_, written, trial_, i % 6, random, {i / 6, 3});
        for (const auto& [name, array] : fields_after(written, out)) {
          seen.add(fmt::format("field {} of sample {}", name, i), array);
        }
      } catch (const Error& error) {
        if (i == 0) throw;
        seen.add(fmt::format("error at sample {}", i), error.what());
      }
    }
    if (auto* const rescaled = harness::ability<Rescaled>(*made_)) {
      for (const ExampleInput& input : trial_.inputs) {
        const auto found = rescaled->rescaling(input.field.name);
        if (!found) continue;
        for (const double each : found->scale) seen.add("scale of " + input.field.name, each);
        for (const double each : found->offset) seen.add("offset of " + input.field.name, each);
      }
    }
  }

 private:
  void batches(const BatchTransform& transform, int64_t from, int64_t to, Seen& seen) const {
    for (int64_t i = from; i < to; ++i) {
      const BatchTrip trip = push_batch(transform, trial_, i);
      seen.add(fmt::format("spec of batch {}", i), trip.promised);
      for (const auto& [name, tensor] : trip.made) seen.add(fmt::format("field {} of batch {}", name, i), tensor);
    }
  }

  [[nodiscard]] harness::MemorySample sample(int64_t index) const {
    return draw_sample(trial_.inputs, trial_.seed, index % 6);
  }
};

constexpr Kind kTransform{"transform", Transform::kRevision, &make_use<UseTransform>};
TENON_KIND(kTransform);

}  // namespace
}  // namespace tenon::conformance
