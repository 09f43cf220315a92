// What flows through a pipeline, as its components themselves say.
#pragma once

#include <string>

#include <core/json/json.hpp>
#include <engine/engine.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// For each path its nodes with what they give, then the size of each model.
[[nodiscard]] std::string shapes_page(const engine::PlanReport& report, const Console& console);

[[nodiscard]] core::Json shapes_json(const engine::PlanReport& report);

}  // namespace tenon::host
