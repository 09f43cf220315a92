// Starter pipelines, compiled into the program from sdk/templates/pipelines.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tenon::host {

struct Template {
  std::string_view name;  ///< "regression"; also the pipeline's name in `text`.
  std::string_view text;  ///< JSON with comments. Its first line is "// " and one sentence about it.
};

/// All of them by name.
[[nodiscard]] std::span<const Template> templates() noexcept;

/// The sentence of the first line, without its full stop.
[[nodiscard]] std::string_view summary(const Template& each) noexcept;

/// The text for a pipeline of that name in that file; its comments speak of both.
[[nodiscard]] std::string text_for(const Template& each, std::string_view name, std::string_view file);

}  // namespace tenon::host
