// `--locked`: nothing but what a lock file names.
#pragma once

#include <core/graph/graph.hpp>
#include <core/plugin/catalogue.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>

namespace tenon::host {

inline constexpr Option kLockedOption{"locked", "LOCK",
                                      "use only the very plugins and libtorch of this lock.json or run;\n"
                                      "any other version or build is refused before the start"};

/// Compares the pipeline's plugins and libtorch with the lock of --locked, where that is given; opens nothing.
/// \throws Error (kConfig) for what is no lock file; Refusal ("lock-drift") naming all that differs, with both sides.
void require_locked(const Arguments& arguments, const core::Graph& graph, const core::Catalogue& catalogue);

}  // namespace tenon::host
