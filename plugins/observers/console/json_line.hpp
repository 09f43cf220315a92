// Events as programs read them.
#pragma once

#include <string>

#include <tenon/components/observer.hpp>

namespace tenon::observers {

/// The event as a line of log.jsonl tells it, with a line feed: "event", "step", "time", "epoch", "text" and "values" of
/// log-1.schema.json. `time`: seconds since 1970-01-01 UTC. Empty for kValidateStart, which the log does not hold.
[[nodiscard]] std::string json_line(const Event& event, double time);

}  // namespace tenon::observers
