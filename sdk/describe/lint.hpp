// What a plugin's file must not hold: found when it is built, told with the way out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <describe/elf.hpp>

namespace tenon::describe {

/// A sentence for each fault; none for a plugin as it should be.
///   - A symbol that is exported beside the entry: another library's symbol of that name would be taken for it.
///   - A function that changes the process behind the host's back, such as setenv; those named in `allowed` are left out.
///   - Start-up code that changes how the whole process calculates, which gcc adds for -ffast-math at the link.
///   - A torch operator namespace that is registered but not among `namespaces`: two libraries that register one end the
///     process, which the host can prevent only when it knows.
[[nodiscard]] std::vector<std::string> lint(const Symbols& symbols, std::span<const std::string> namespaces,
                                            std::span<const std::string> allowed);

}  // namespace tenon::describe
