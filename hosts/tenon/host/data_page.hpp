// What `tenon data check` found, for people and for programs.
#pragma once

#include <string>

#include <core/json/json.hpp>
#include <engine/data_report.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// Tables of parts, classes, images, numbers; samples that failed, the first `kMostFailures` of each part; findings.
[[nodiscard]] std::string data_page(const engine::DataReport& report, const Console& console);
inline constexpr std::size_t kMostFailures = 20;

/// As schemas/data-check-1.schema.json has it.
[[nodiscard]] core::Json data_json(const engine::DataReport& report, const std::string& pipeline, int exit_code);

/// Findings of that severity.
[[nodiscard]] std::size_t count_findings(const engine::DataReport& report, core::Severity severity);

}  // namespace tenon::host
