// The export gate: a file gets its final name only after a second process, given the file alone, agreed with the live
// model.
#pragma once

#include <filesystem>
#include <string>

#include <engine/artefact.hpp>
#include <engine/components.hpp>
#include <engine/engine.hpp>
#include <engine/feed.hpp>

namespace tenon::engine {

/// Writes what exporter node `name` makes of its model, verifies it over the batches that it names, and puts it into
/// `folder` as NODE.EXT with NODE.EXT.report.json beside it; earlier ones of these names go first. Inputs are real
/// samples of `feed`'s stream, whose path reaches the model; those that the exporter is given as an example are not
/// used again as long as there are others. `facts` (checkpoint, device settings) go into the report.
///
/// Refused are: a model that in evaluation is random, keeps state or gives NaN; a file that does not open and run alone
/// within the limit of `process`; one that is no function of its inputs (each batch goes through it twice); outputs that are missing,
/// not the model's, of another type or shape, or too far off (see Verify); stored tensors that are not the model's
/// (see StoredTensors); a file much larger than the model's tensors; an exporter that changes the model, writes more
/// than the one file, or whose file changes while it is verified. \throws PlacedError (kVerification) that names what,
/// where and how to mend it; then nothing of these names is there. [trainer]
[[nodiscard]] ExportOutcome export_model(const Components& components, const std::string& name, Feed& feed,
                                         Collectives& ranks, const std::filesystem::path& folder,
                                         const SecondProcess& process, const core::Json& facts);

/// What a file may measure over a model whose tensors take `tensor_bytes`: half as much again, and 256 KiB, for the
/// graph, names and alignment.
[[nodiscard]] uint64_t allowed_bytes(uint64_t tensor_bytes);

}  // namespace tenon::engine
