// Draws through Graphviz's dot, which is a program of its own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tenon::host {

/// The first executable of that name on PATH.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name);

/// The drawing as SVG. \throws Error: kConfig without a dot on PATH, with the package that brings it, and where dot fails
/// or takes more than five minutes; kStorage where no temporary file can be made.
[[nodiscard]] std::string draw_svg(const std::string& dot_text);

}  // namespace tenon::host
