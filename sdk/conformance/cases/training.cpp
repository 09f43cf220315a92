// Optimizers, schedules, precision policies and distributed backends.
#include <conformance/case.hpp>

#include <cmath>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <tenon/components/precision.hpp>
#include <tenon/harness/param_groups.hpp>
#include <tenon/harness/progress.hpp>

namespace tenon::conformance {
namespace {

harness::Hypers hypers_of(const Subject& subject, const Json& params) {
  harness::Hypers hypers;
  if (!subject.schema().contains("properties")) return hypers;
  for (const auto& [name, property] : subject.schema()["properties"].items()) {
    if (property.contains("x-schedulable")) hypers.emplace_back(name, params.at(name).get<double>());
  }
  return hypers;
}

void moves(Bench& bench) {
  const Trial& trial = bench.trial();
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const harness::Hypers hypers = hypers_of(bench.subject(), trial.params);
    auto groups = harness::two_groups(type, hypers, hypers);
    const auto optimizer = harness::Registry::as<Optimizer>(bench.subject().make(trial.params));
    optimizer->attach(groups);
    const at::Tensor before = groups[0].flat_param.clone();
    bench.doing(fmt::format("a step on {} parameters", c10::toString(type)));
    harness::steps(*optimizer, groups, 0, 3);
    for (const ParamGroup& group : groups) {
      if (!group.flat_param.isfinite().all().item<bool>()) {
        return bench.fail("parameters are not finite after three steps", "guard divisions", trial.params);
      }
    }
    if (at::equal(before, groups[0].flat_param)) {
      return bench.fail("three steps change no parameter", "write to the parameters in place: param.add_(…)",
                        trial.params);
    }
  }
}

constexpr Case kMoves{"optimizer.step", "Steps change float32 and float64 parameters, in place, to finite values.",
                      "optimizer", &moves};
TENON_CASE(kMoves);

void skip(Bench& bench) {
  if (!bench.subject().has("abilities", Optimizer::kDeviceSkip)) throw Skip{"the engine skips steps for it"};
  const Trial& trial = bench.trial();
  const harness::Hypers hypers = hypers_of(bench.subject(), trial.params);
  auto skipping = harness::two_groups(at::kFloat, hypers, hypers);
  auto plain = harness::two_groups(at::kFloat, hypers, hypers);
  const auto first = harness::Registry::as<Optimizer>(bench.subject().make(trial.params));
  const auto second = harness::Registry::as<Optimizer>(bench.subject().make(trial.params));
  first->attach(skipping);
  second->attach(plain);
  harness::steps(*first, skipping, 0, 2);
  harness::steps(*first, skipping, 2, 3, 1, {at::ones({}, at::TensorOptions(at::kFloat)), {}});
  harness::steps(*first, skipping, 3, 5);
  harness::steps(*second, plain, 0, 2);
  harness::steps(*second, plain, 3, 5);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (at::equal(skipping[i].flat_param, plain[i].flat_param)) continue;
    return bench.fail("a step with found_inf leaves a trace",
                      "multiply all updates, those of the state too, by found_inf == 0", trial.params);
  }
}

constexpr Case kSkip{"optimizer.skip", "With the ability device_skip, a step with found_inf leaves no trace.",
                     "optimizer", &skip};
TENON_CASE(kSkip);

void factors(Bench& bench) {
  const Trial& trial = bench.trial();
  for (const int64_t steps : {1, 20, 1000}) {
    const auto schedule = harness::Registry::as<Schedule>(bench.subject().make(trial.params));
    harness::Course course;
    course.steps = steps;
    course.metric = [](int64_t epoch) { return 1.0 / static_cast<double>(epoch + 1); };
    bench.doing(fmt::format("a run of {} steps", steps));
    try {
      (void)harness::curve(*schedule, course);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kConfig) continue;  // too short or too long for these parameters
      bench.fail(error.what(), "a factor is finite and at least 0 at every step", trial.params);
    }
  }
}

void repeated(Bench& bench) {
  const Trial& trial = bench.trial();
  const auto schedule = harness::Registry::as<Schedule>(bench.subject().make(trial.params));
  harness::Course course;
  course.steps = 200;
  bench.doing("asking twice before each of 200 steps");
  try {
    for (int64_t applied = 0; applied < course.steps; ++applied) {
      const double first = schedule->factor(course.at(applied));
      const double second = schedule->factor(course.at(applied));
      if (first == second) continue;
      return bench.fail(fmt::format("asked twice before step {} it gives {}, then {}", applied, first, second),
                        "follow progress.applied and count no calls: it is asked any number of times", trial.params);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kConfig) throw;  // else it is too long or too short a run for these parameters
  }
}

constexpr Case kRepeated{"schedule.repeated", "Asked twice with the same progress, it gives the same factor.",
                         "schedule", &repeated};
TENON_CASE(kRepeated);

constexpr Case kFactors{"schedule.factors", "Every factor is finite and at least 0, in runs of 1, 20 and 1000 steps.",
                        "schedule", &factors};
TENON_CASE(kFactors);

void scale(Bench& bench) {
  const Trial& trial = bench.trial();
  const auto precision = harness::Registry::as<Precision>(bench.subject().make(trial.params));
  if (!at::isFloatingType(precision->storage()))
    bench.fail("storage() is no floating type", "keep parameters in float32 or float64", trial.params);
  for (int i = 0; i < 5000; ++i) {
    const double now = precision->scale();
    if (!(now > 0) || !std::isfinite(now)) {
      return bench.fail(fmt::format("after {} updates the scale is {}", i, now), "keep the scale between bounds",
                        trial.params);
    }
    precision->update(i < 2500);  // finite for long, then never
  }
}

constexpr Case kScale{"precision.scale", "The loss scale stays positive and finite, whatever is found.", "precision",
                      &scale};
TENON_CASE(kScale);

}  // namespace
}  // namespace tenon::conformance
