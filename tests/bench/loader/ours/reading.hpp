// What is measured of a loader, whatever its stream.
#pragma once

#include <engine/data/loader.hpp>

#include <contender.hpp>

namespace tenon::bench {

/// One epoch from its beginning, nothing made before: samples, wall, cpu, time to the first batch, ids. `taking`: seconds
/// that the consumer then computes on each batch.
[[nodiscard]] Json read_epoch(engine::Loader& loader, int64_t epoch, double taking = 0);

/// Several epochs in one go, with a consumer that takes `pause` milliseconds a batch: how long it waited for the first
/// batch of each epoch but the first, and for the others at the median, in milliseconds.
[[nodiscard]] Json read_turns(engine::Loader& loader, int64_t epochs, double pause);

/// From a batch of an epoch to its end: time from `begin`, of now(), to the first batch, and a hash of each.
[[nodiscard]] Json read_from(engine::Loader& loader, int64_t epoch, int64_t batch, double begin);

/// Memory behind each of several epochs.
[[nodiscard]] Json read_memory(engine::Loader& loader, int64_t epochs);

}  // namespace tenon::bench
