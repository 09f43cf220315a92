// What a command that trains says on standard error, and how: --quiet and --log-format.
#pragma once

#include <core/graph/graph.hpp>
#include <core/resolve/resolve.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>

namespace tenon::host {

inline constexpr Option kQuietOption{"quiet", "",
                                     "say only what is wrong, and print only the table of results;\n"
                                     "observers that the pipeline itself names go on as they do"};
inline constexpr Option kLogFormatOption{"log-format", "text|json",
                                         "progress and messages for people (default), or one JSON object\n"
                                         "a line: with \"event\" as in log.jsonl, else as check --format json"};

/// What the console says from here on.
void apply_log_options(const Arguments& arguments, Console& console);

/// Lets the observers of `graph` show what the options ask for: none of the progress with --quiet where the pipeline does
/// not say itself who observes, the format for every observer:console, and --color. The resolved configuration stays as
/// it is, since none of this belongs to the run.
void direct_observers(const Arguments& arguments, const core::Resolved& resolved, core::Graph& graph);

}  // namespace tenon::host
