// The data plane of a pipeline without its step plane: datasets, transforms and loaders, opened.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <engine/components.hpp>
#include <engine/data/stream.hpp>

namespace tenon::engine {

/// Components of the data plane alone. What it is made from must outlive it. [trainer]
class DataPlane {
 public:
  /// Makes the components; opens nothing. \throws PlacedError.
  DataPlane(const core::Graph& graph, const core::Resolved& resolved, const core::Catalogue& catalogue);

  struct Outcome {
    std::string unlearned;  ///< What kept transforms from learning, such as a sample that cannot be read; or empty.
    std::string missing;    ///< Why the data of "predict" cannot be opened, which no other path reads; or empty.
  };

  /// Opens the datasets of these paths, and lets the transforms that they use learn from the training data, which is
  /// opened for that. `remark`, unless it is empty, is told what datasets have to say of their data. Once.
  /// \throws PlacedError.
  Outcome open(std::span<const core::Path* const> paths, const std::function<void(const std::string&)>& remark);

  [[nodiscard]] const core::Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] const Components& components() const noexcept { return components_; }
  [[nodiscard]] uint64_t seed() const noexcept { return static_cast<uint64_t>(graph_.run.seed); }

  [[nodiscard]] DatasetNode dataset(const core::Node& node) const;
  [[nodiscard]] TransformNode transform(const core::Node& node) const;

  /// The texts of the numbers in an integer field behind a stage, as the last transform before or else a dataset knows
  /// them; empty where none does, and where what a dataset joins does not agree on them.
  [[nodiscard]] std::vector<std::string> categories(const core::Node& stage, std::string_view field) const;

  /// Names of the elements of a dataset's field, where a parameter "fields" of it, or of a dataset that it reads, lists
  /// the "columns" that make the field; else empty.
  [[nodiscard]] std::vector<std::string> columns(const core::Node& dataset, std::string_view field) const;

 private:
  [[nodiscard]] bool fitted(const core::Path& path) const;

  core::Graph graph_;
  Components components_;
};

/// Whether a transform draws random numbers, or takes samples at random.
[[nodiscard]] bool is_random(const core::Node& transform);

/// Whether a transform learns from data.
[[nodiscard]] bool is_fitted(const core::Node& transform);

}  // namespace tenon::engine
