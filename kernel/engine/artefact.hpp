// An exported file in a second process: both ends of it.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <core/json/json.hpp>
#include <core/plugin/manifest.hpp>
#include <engine/agreement.hpp>
#include <engine/engine.hpp>
#include <tenon/tensors.hpp>

namespace tenon::engine {

/// How long a second process may take over one file.
inline constexpr std::chrono::seconds kArtefactLimit{300};

/// Type, shape and SHA-256 of the bytes of named tensors.
using Fingerprints = std::map<std::string, std::string>;
[[nodiscard]] Fingerprints fingerprints(const std::vector<std::pair<std::string, at::Tensor>>& tensors);

/// An exported file and what can open it.
struct Artefact {
  std::filesystem::path file;
  std::string component;         ///< "exporter:torchscript"
  core::Json with;               ///< Its parameters.
  std::filesystem::path plugin;  ///< The file that it comes from.
};

/// What came back. A file must give the same at every call, so each input went through it twice, and others in between.
struct Returned {
  std::vector<Tensors> first;   ///< By input, as far as it came.
  std::vector<Tensors> second;  ///< The same again.
  Fingerprints stored;          ///< Of the tensors that the file stores as they are; see StoredTensors.
  std::string problem;          ///< Why something is missing; empty when all is there.
};

/// The process that files are run in.
struct SecondProcess {
  std::filesystem::path program;  ///< The `tenon` program.
  std::chrono::seconds limit = kArtefactLimit;
  const InterruptionPoll* poll = nullptr;  ///< Ends the process when a signal is heard. Outlives it.
};

/// Runs the file on each of `inputs` in a process that knows nothing else. Files that pass between the two lie in
/// `folder`, which exists. \throws Error (kStorage), Interrupted. [trainer]
[[nodiscard]] Returned run_elsewhere(const SecondProcess& process, const Artefact& artefact,
                                     std::span<const Tensors> inputs, const std::filesystem::path& folder);

/// The far side, in this process: runs `request.file` on the file `request.inputs`, once. Where that is a folder, runs
/// it on each file therein by order of name, writes the results under the same names into the folder
/// `request.outputs`, and does all of it once more with "again-" before each name; then it leaves there, in
/// "stored.json", the fingerprints of what the file stores. \throws Error.
void run_artefact(const ArtefactRequest& request);

}  // namespace tenon::engine
