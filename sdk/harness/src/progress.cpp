// Time as schedules, observers and controllers see it.
#include <tenon/harness/progress.hpp>

#include <cmath>

#include <tenon/error.hpp>
#include <tenon/harness/components.hpp>

namespace tenon::harness {
namespace {

bool ends_epoch(const Course& course, int64_t applied) { return applied > 0 && applied % course.steps_per_epoch == 0; }

}  // namespace

Progress Course::at(int64_t applied, bool with_metric) const {
  Progress progress;
  progress.applied = applied;
  progress.planned = steps;
  progress.steps_per_epoch = steps_per_epoch;
  progress.samples_per_step = samples_per_step;
  progress.epoch = applied / steps_per_epoch;
  if (with_metric && metric) progress.metric = Observation{metric(progress.epoch - 1), better};
  return progress;
}

std::vector<double> curve(Schedule& schedule, const Course& course, int64_t from) {
  std::vector<double> factors;
  for (int64_t applied = from; applied < course.steps; ++applied) {
    const bool told = course.metric && ends_epoch(course, applied);
    const double factor = schedule.factor(course.at(applied, told));
    if (!std::isfinite(factor) || factor < 0) {
      throw Error(ErrorCode::kPlugin, "the factor before step " + std::to_string(applied) + " is " +
                                          std::to_string(factor) + ", but must be finite and at least 0");
    }
    factors.push_back(factor);
  }
  return factors;
}

std::vector<StoredEvent> events_of(const Course& course) {
  using Kind = Event::Kind;
  std::vector<StoredEvent> events{{Kind::kRunStart, 0}};
  for (int64_t step = 1; step <= course.steps; ++step) {
    events.push_back({Kind::kStep, step, "", {{"train.loss", 1.0 / static_cast<double>(step)}, {"train.lr", 0.1}}});
    if (!ends_epoch(course, step)) continue;
    const double found = course.metric ? course.metric(step / course.steps_per_epoch - 1) : 0.5;
    events.push_back({Kind::kValidateStart, step, "validate"});
    events.push_back({Kind::kValidateEnd, step, "", {{"validate.acc", found}}});
    events.push_back({Kind::kCheckpoint, step, "checkpoints/step-" + std::to_string(step)});
    events.push_back({Kind::kBest, step, "checkpoints/step-" + std::to_string(step)});
  }
  events.push_back({Kind::kMessage, course.steps, "a word from the engine"});
  events.push_back({Kind::kTest, course.steps, "", {{"test.acc", 0.5}}});
  events.push_back({Kind::kExport, course.steps, "net.pt"});
  events.push_back({Kind::kRunEnd, course.steps, "done"});
  return events;
}

void feed(Observer& observer, const std::vector<StoredEvent>& events, const Course& course) {
  for (const StoredEvent& each : events) {
    std::vector<LoggedValue> values;
    for (const auto& [key, value] : each.values) values.push_back({key, value});
    Event event;
    event.kind = each.kind;
    event.step = each.step;
    event.planned = course.steps;
    event.epoch = each.step / course.steps_per_epoch;
    event.epochs = (course.steps + course.steps_per_epoch - 1) / course.steps_per_epoch;
    event.elapsed = static_cast<double>(each.step);
    event.remaining = static_cast<double>(course.steps - each.step);
    event.samples_per_second = static_cast<double>(course.samples_per_step);
    event.values = values;
    event.text = each.text;
    observer.on(event);
  }
}

void steer(Observer& observer, const Course& course, int64_t from, int64_t to, Asked& asked) {
  auto* const controller = ability<Controller>(observer);
  if (controller == nullptr) return;
  for (int64_t step = from; step < to; ++step) {
    controller->at_step(course.at(step + 1), asked);
    if (course.metric && ends_epoch(course, step + 1)) controller->at_step(course.at(step + 1, true), asked);
  }
}

}  // namespace tenon::harness
