// What is wrong with data, judged from what was measured.
#pragma once

#include <string_view>
#include <vector>

#include <engine/data_report.hpp>

namespace tenon::engine {

/// True for a path that trains: "fit" and its phases.
[[nodiscard]] bool trains(std::string_view path) noexcept;

/// True for a path whose numbers count as those of data that training has not seen: validations and test.
[[nodiscard]] bool measures(std::string_view path) noexcept;

/// All that is to be told of a report's parts and duplicates; its own findings are not looked at. Pure.
[[nodiscard]] std::vector<DataFinding> judge(const DataReport& report);

}  // namespace tenon::engine
