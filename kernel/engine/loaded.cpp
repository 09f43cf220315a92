// Opening paths of a checkpoint.
#include <engine/loaded.hpp>

#include <ATen/ATen.h>

#include <engine/device.hpp>
#include <engine/plan.hpp>
#include <engine/restore.hpp>
#include <engine/setup.hpp>

namespace tenon::engine {

Loaded::Loaded(const core::Graph& graph, const core::Resolved& resolved, const core::Catalogue& catalogue,
               std::span<const core::Path* const> paths, const core::Checkpoint& checkpoint,
               const std::vector<std::string>& also)
    : device_(prepare_device(graph, resolved)),
      components_(graph, resolved, catalogue),
      precision_(precision_of(components_, guarded_)) {
  std::vector<const Feed*> planned;
  for (const core::Path* const path : paths) {
    feeds_.push_back(std::make_unique<Feed>(components_, *path, static_cast<uint64_t>(graph.run.seed)));
    planned.push_back(feeds_.back().get());
  }
  static_cast<void>(plan_networks(components_, planned, precision_));
  open_datasets(components_, paths);
  const at::TensorOptions options = at::TensorOptions(precision_.storage()).device(device_);
  for (const core::Path* const path : paths) restore_path(components_, *path, checkpoint, options, also);
}

Feed& Loaded::connect(std::size_t path, const Collectives& ranks) {
  feeds_[path]->connect(ranks, device_, precision_.storage());
  return *feeds_[path];
}

}  // namespace tenon::engine
