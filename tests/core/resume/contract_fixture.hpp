// Graphs to compare, and what comes of a comparison in short.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <core/graph/fixture.hpp>
#include <core/resume/contract.hpp>

namespace tenon::core::testing {

/// Changes as "pointer: word" or "pointer: applied", with ", anew NODE" where its state begins anew.
using Facts = std::vector<std::string>;

/// The demo with a schedule that reads a metric.
[[nodiscard]] std::string plateau_text();

/// The demo with another schedule in the place of its own.
[[nodiscard]] std::string with_schedule(const std::string& schedule);

/// Of a text without errors.
[[nodiscard]] Graph graph_of(const std::string& text);

/// Another value of the same type.
[[nodiscard]] Json changed(const Json& value);

/// Calls `visit` with the pointer of each value that holds no other; a list of values without members is one.
void each_leaf(const Json& value, const std::string& pointer, const std::function<void(const std::string&)>& visit);

/// Expects of each change that it tells its consequence.
[[nodiscard]] Facts facts(const std::vector<Change>& changes);

/// What comes of a run of the first pipeline that goes on with the second.
[[nodiscard]] Facts facts(const std::string& before, const std::string& after);

}  // namespace tenon::core::testing
