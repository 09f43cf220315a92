// Schedules over the steps of a run, and observers fed with what happens in one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tenon/components/observer.hpp>
#include <tenon/components/schedule.hpp>

namespace tenon::harness {

/// The outline of a run.
struct Course {
  int64_t steps = 20;
  int64_t steps_per_epoch = 5;
  int64_t samples_per_step = 8;
  /// The metric found at the end of each epoch; none where it is empty.
  std::function<double(int64_t epoch)> metric{};
  Direction better = Direction::kMax;

  /// How far the run is before the step that follows `applied` ones. The metric of the epoch that has just ended is in
  /// it only with `with_metric`.
  [[nodiscard]] Progress at(int64_t applied, bool with_metric = false) const;
};

/// The factor before each step of the course, from step `from` on; behind an epoch the schedule is told the metric
/// first, as by the engine after a validation. \throws Error (kPlugin) for a factor that is not finite or negative.
[[nodiscard]] std::vector<double> curve(Schedule& schedule, const Course& course, int64_t from = 0);

/// Keeps what a controller asks for.
class Asked final : public Requests {
 public:
  void stop(std::string_view reason) override { stops.emplace_back(reason); }
  void save() override { ++saves; }

  std::vector<std::string> stops;
  int64_t saves = 0;
};

/// An event whose text and values live as long as it does.
struct StoredEvent {
  Event::Kind kind = Event::Kind::kMessage;
  int64_t step = 0;
  std::string text{};
  std::vector<std::pair<std::string, double>> values{};
};

/// The events of a run of this course that ends well: start, steps, a validation and a checkpoint per epoch, test,
/// export, end.
[[nodiscard]] std::vector<StoredEvent> events_of(const Course& course);

/// Gives the events to an observer, in order.
void feed(Observer& observer, const std::vector<StoredEvent>& events, const Course& course);

/// Steers through the steps [from, to) of a course, as the engine does: after every step, and once more with the metric
/// at the end of an epoch. Nothing for an observer without the ability Controller.
void steer(Observer& observer, const Course& course, int64_t from, int64_t to, Asked& asked);

}  // namespace tenon::harness
