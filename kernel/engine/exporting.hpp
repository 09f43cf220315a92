// Exports of a run or of a checkpoint, one exporter after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <engine/components.hpp>
#include <engine/engine.hpp>
#include <engine/export_gate.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::engine {

/// The path whose samples an exported model is verified with: test, else a validation, else training, whose
/// data is there for sure, else prediction.
[[nodiscard]] const core::Path& path_to(const core::Graph& graph, const std::string& model);

/// What an export is made from and with.
struct Exporting {
  const Components& components;      ///< Models hold the weights of the checkpoint. Datasets are open.
  const Precision& precision;        ///< Of training.
  std::filesystem::path checkpoint;  ///< Its folder.
  core::Json facts;                  ///< Of the device and the data, for the reports.
  std::filesystem::path folder;      ///< Where the files go.
  SecondProcess process;
};

/// Moves all models to the CPU and passes the files of these exporter nodes through the gate; tells of each that passed.
/// \throws PlacedError (kVerification), Interrupted. [trainer]
std::vector<ExportOutcome> export_nodes(const Exporting& exporting, const std::vector<std::string>& nodes,
                                        const std::function<void(const ExportOutcome&)>& passed);

/// See Engine::export_checkpoint. [trainer]
[[nodiscard]] std::vector<ExportOutcome> export_from_checkpoint(const ExportRequest& request);

}  // namespace tenon::engine
