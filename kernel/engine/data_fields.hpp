// From what was seen of a field to what is reported of it.
#pragma once

#include <string>
#include <vector>

#include <engine/data/check/field_survey.hpp>
#include <engine/data_report.hpp>

namespace tenon::engine {

/// The report on a field. `columns` name its elements where there is one for each; `categories` its classes, by number.
[[nodiscard]] DataField field_of(const FieldSurvey& survey, const std::vector<std::string>& columns,
                                 const std::vector<std::string>& categories);

}  // namespace tenon::engine
