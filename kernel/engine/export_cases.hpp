// What the live model gives on real samples: the measure of an exported file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <engine/components.hpp>
#include <engine/feed.hpp>
#include <tenon/components/exporter.hpp>
#include <tenon/tensors.hpp>

namespace tenon::engine {

/// Inputs and outputs of the live model in evaluation.
struct ExportCase {
  int64_t batch = 0;
  Tensors in;      ///< On the CPU.
  Tensors wanted;  ///< By output port.
};

/// Tensors with memory of their own: a model or an exporter may work in place.
[[nodiscard]] Tensors copy_of(const Tensors& tensors);

/// Tells what is wrong; does not return.
using Refuse = std::function<void(const std::string& message)>;

/// The example for the exporter, of a batch size that `verify` does not name, then one case for each size that it
/// names, of other samples where there are. `model` is on the path of `feed`. Refused is a model that gives NaN, or
/// other numbers when it is called again. \throws PlacedError for what the model throws. [trainer]
[[nodiscard]] std::vector<ExportCase> export_cases(const Components& components, const core::Node& model, Feed& feed,
                                                   Collectives& ranks, const Verify& verify, const Refuse& refuse);

}  // namespace tenon::engine
