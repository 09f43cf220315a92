// Looking at what was predicted.
#include <tenon/kernel/columns.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <embed/errors.hpp>

namespace tenon::kernel {

void PredictedColumn::require(Dtype wanted) const {
  guarded([&] {
    if (wanted == dtype) return;
    throw tenon::Error(ErrorCode::kData,
                       fmt::format("\"{}\" is {}, and is asked for as {}", name, name_of(dtype), name_of(wanted)));
  });
}

const PredictedColumn& Predictions::at(std::string_view name) const {
  for (const PredictedColumn& column : columns) {
    if (column.name == name) return column;
  }
  guarded([&] {
    std::vector<std::string> names;
    for (const PredictedColumn& column : columns) names.push_back(column.name);
    throw tenon::Error(ErrorCode::kConfig,
                       fmt::format("\"predict\" has no output \"{}\"; there are: {}", name, fmt::join(names, ", ")));
  });
  return columns.front();  // not reached
}

}  // namespace tenon::kernel
