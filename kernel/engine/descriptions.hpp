// What a run directory tells about the run beside its log.
#pragma once

#include <core/storage/run_directory.hpp>
#include <engine/setup.hpp>

namespace tenon::engine {

/// Writes config.resolved.json, environment.json and lock.json. When a run goes on from `step` and one of them says
/// something new, what it said until then stays beside it as NAME.until-000073.json. [trainer]
void write_descriptions(Setup& setup, const core::Json& provenance, const core::RunDirectory& directory, int64_t step);

}  // namespace tenon::engine
