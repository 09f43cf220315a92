// Streams of the pipeline as the data engine runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <engine/components.hpp>
#include <engine/data/stream.hpp>
#include <engine/stream_dataset.hpp>

namespace tenon::engine {

/// The nodes of a path's stream that make a sample: its dataset, then its transforms, in order.
[[nodiscard]] std::vector<const core::Node*> stages_of(const core::Graph& graph, const core::Path& path);

/// Likewise up to a dataset or transform, which is the last.
[[nodiscard]] std::vector<const core::Node*> stages_to(const core::Graph& graph, const core::Node& last);

/// The datasets that a path reads, directly or through others.
[[nodiscard]] std::set<std::string> datasets_of(const core::Graph& graph, const core::Path& path);

/// The place in the pipeline that is shown for what a stage does wrong with a sample.
[[nodiscard]] std::string place_of_stage(const core::Node& stage);

/// Likewise for a sample of a path's stream: that of the stage at fault, or the loader's where none is named.
[[nodiscard]] std::string place_of(const core::Graph& graph, const core::Path& path, const DataError& error);

/// A stream over the components of these nodes, a dataset first. Asks each for its fields; reads nothing.
/// \throws PlacedError. [trainer]
[[nodiscard]] Stream make_stream(const Components& components, std::span<const core::Node* const> stages,
                                 uint64_t seed);

/// What a dataset reads whose `in` names that transform: the stream up to it, as a dataset. \throws PlacedError.
/// [trainer]
[[nodiscard]] std::unique_ptr<StreamDataset> make_stream_dataset(const Components& components,
                                                                 const core::Node& transform);

}  // namespace tenon::engine
