// From the words of a command line to an exit code.
#pragma once

#include <string>
#include <vector>

#include <host/console.hpp>

namespace tenon::host {

/// Finds the command, runs it and turns whatever it throws into a message and the documented exit code. `words` begin
/// with the program's name. Nothing leaves it.
[[nodiscard]] int run_program(const std::vector<std::string>& words, Console& console) noexcept;

}  // namespace tenon::host
