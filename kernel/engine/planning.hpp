// What a pipeline's components say of themselves before anything is read or trained.
#pragma once

#include <engine/engine.hpp>

namespace tenon::engine {

/// See Engine::plan. Opens no data. [trainer]
[[nodiscard]] PlanReport plan_report(const PlanRequest& request);

/// See Engine::schedule_curve. Opens the training data, for its size. [trainer]
[[nodiscard]] ScheduleCurve plan_schedule(const ScheduleCurveRequest& request);

}  // namespace tenon::engine
