// Whether an exported file that ran elsewhere is the model.
#pragma once

#include <string>
#include <vector>

#include <engine/artefact.hpp>
#include <engine/difference.hpp>
#include <engine/export_cases.hpp>
#include <tenon/components/exporter.hpp>

namespace tenon::engine {

/// What the file must hold to.
struct Promised {
  std::vector<std::string> outputs;  ///< Output ports of the model.
  Fingerprints tensors;              ///< Of the live model.
  Verify verify;
};

/// Compares what came back for `cases`, of which the first is the example that the exporter had: problems, stored
/// tensors, both calls with each other, outputs with the live model. The differences are those of all cases but the
/// example's. Refuses with what is wrong, where and how to mend it.
[[nodiscard]] std::vector<Difference> judge(const std::vector<ExportCase>& cases, const Returned& returned,
                                            const Promised& promised, const Refuse& refuse);

}  // namespace tenon::engine
