// A schedule of a pipeline over the steps that are planned, drawn or as numbers.
#pragma once

#include <string>

#include <core/graph/graph.hpp>
#include <core/json/json.hpp>
#include <engine/engine.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// The schedule of that name. \throws Error (kConfig) for a name that is none, with those that are.
[[nodiscard]] const core::Node& schedule_at(const core::Graph& graph, const std::string& name);

/// What it drives in words, and the curve: as wide as the terminal, with Braille dots where the locale takes UTF-8, and a
/// mark where a warm-up ends.
[[nodiscard]] std::string curve_page(const engine::ScheduleCurve& curve, const core::Node& schedule,
                                     const Console& console);

/// {"node", "of", "field", "configured", "planned", "steps_per_epoch", "values"}; of each step from 1 on, as the
/// log counts them, [step, value].
[[nodiscard]] core::Json curve_json(const engine::ScheduleCurve& curve, const core::Node& schedule);

}  // namespace tenon::host
