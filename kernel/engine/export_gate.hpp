// The export gate: a file gets its final name only after a second process, given the file alone, agreed with the live
// model.
#pragma once

#include <filesystem>
#include <string>

#include <c10/core/Device.h>

#include <engine/components.hpp>
#include <engine/engine.hpp>
#include <engine/feed.hpp>

namespace tenon::engine {

/// Writes what exporter node `name` makes of its model, verifies it over the batches that it names, and puts it into
/// `folder` as NODE.EXT with NODE.EXT.report.json beside it. Inputs are real samples of `feed`'s stream, whose path
/// reaches the model. `facts` (checkpoint, device settings) go into the report. \throws PlacedError: kVerification when
/// any output differs, naming it with batch and error; then no file of the final name is there. [trainer]
[[nodiscard]] ExportOutcome export_model(const Components& components, const std::string& name, Feed& feed,
                                         Collectives& ranks, const std::filesystem::path& folder,
                                         const std::filesystem::path& program, const core::Json& facts);

/// The far side: runs `request.file` on `request.inputs`, in this process. \throws Error.
void run_artefact(const ArtefactRequest& request);

}  // namespace tenon::engine
