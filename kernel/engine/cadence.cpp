// Due steps.
#include <engine/cadence.hpp>

#include <algorithm>

namespace tenon::engine {
namespace {

bool triggers(const Span& span, const Position& position, int64_t samples_before) {
  if (span.count <= 0) return false;
  switch (span.unit) {
    case Span::Unit::kSteps: return position.step % span.count == 0;
    case Span::Unit::kEpochs: return position.epoch_end && position.epoch % span.count == 0;
    case Span::Unit::kSamples: return position.samples / span.count > samples_before / span.count;
  }
  return false;
}

}  // namespace

bool Due::at(const Position& position, Clock::time_point now) {
  const int64_t before = samples_;
  samples_ = position.samples;
  const bool due = std::any_of(cadence_.spans.begin(), cadence_.spans.end(),
                               [&](const Span& span) { return triggers(span, position, before); }) ||
                   std::any_of(cadence_.times.begin(), cadence_.times.end(), [&](const Time& time) {
                     return std::chrono::duration<double>(now - since_).count() >= time.seconds;
                   });
  if (due) since_ = now;
  return due;
}

}  // namespace tenon::engine
