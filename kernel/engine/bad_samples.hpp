// Telling people which samples a loader could not make.
#pragma once

#include <string>

#include <engine/events.hpp>
#include <engine/feed.hpp>
#include <tenon/components/distributed.hpp>

namespace tenon::engine {

/// "validate: 3 samples could not be made; …", for what the feed's loader left out or replaced since the last call:
/// their number over all ranks, and the first ones of the first rank that had any. `who` stands in front. Empty where
/// there was none. Called by all ranks at the same place, as it is a small collective where the loader tolerates bad
/// samples. [trainer]
[[nodiscard]] std::string describe_bad_samples(Feed& feed, const std::string& who, Collectives& ranks);

/// Tells the log what people should know of a feed since the last call: how its loader fared on this rank, and the
/// samples above. Likewise. [trainer]
void tell_feed(Events& events, Feed& feed, const std::string& who, Collectives& ranks);

}  // namespace tenon::engine
