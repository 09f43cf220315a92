// Choosing samples and weights for exporters.
#include <engine/exporting.hpp>

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include <core/graph/used_plugins.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/sha256.hpp>
#include <engine/device.hpp>
#include <engine/loaded.hpp>
#include <engine/models.hpp>
#include <tenon/components/distributed.hpp>

namespace tenon::engine {

const core::Path& path_to(const core::Graph& graph, const std::string& model) {
  std::vector<const core::Path*> paths;
  if (graph.test) paths.push_back(&graph.test->path);
  for (const core::Validation& validation : graph.validations) paths.push_back(&validation.path);
  for (const core::Phase& phase : graph.fit.phases) paths.push_back(&phase.path);
  if (graph.predict) paths.push_back(&graph.predict->path);
  const auto found = std::find_if(paths.begin(), paths.end(), [&](const core::Path* path) {
    return std::find(path->step.begin(), path->step.end(), model) != path->step.end();
  });
  return found == paths.end() ? graph.fit.path : **found;
}

std::vector<ExportOutcome> export_nodes(const Exporting& exporting, const std::vector<std::string>& nodes,
                                        const std::function<void(const ExportOutcome&)>& passed) {
  const Components& components = exporting.components;
  const core::Graph& graph = components.graph();
  visit_models(components, [](const core::Node& /*node*/, Model& model) { move_model(model, c10::kCPU); });
  core::Json facts = exporting.facts;
  facts["checkpoint"] = exporting.checkpoint.filename().string();
  facts["checkpoint_manifest_sha256"] = core::sha256_file(exporting.checkpoint / "manifest.json");
  facts["precision"] = graph.fit.precision ? graph.at(*graph.fit.precision).use() : core::kFullPrecision;
  OneRank alone;
  std::vector<ExportOutcome> outcomes;
  for (const std::string& name : nodes) {
    Feed feed(components, path_to(graph, graph.at(name).of.front()), static_cast<uint64_t>(graph.run.seed));
    feed.connect(alone, c10::kCPU, exporting.precision.storage());
    outcomes.push_back(export_model(components, name, feed, alone, exporting.folder, exporting.process, facts));
    passed(outcomes.back());
  }
  return outcomes;
}

std::vector<ExportOutcome> export_from_checkpoint(const ExportRequest& request) {
  const core::Graph& graph = request.graph;
  const core::Checkpoint checkpoint = core::read_checkpoint(request.checkpoint);
  std::vector<const core::Path*> paths;
  for (const std::string& name : request.nodes) {
    const core::Path& path = path_to(graph, graph.at(name).of.front());
    if (std::find(paths.begin(), paths.end(), &path) == paths.end()) paths.push_back(&path);
  }
  const Loaded loaded(graph, request.resolved, request.catalogue, paths, checkpoint);
  core::Json facts = device_facts(loaded.device());
  facts["libtorch"] = request.libtorch.version;
  facts["data"] = checkpoint.json("state").at("provenance").at("data");
  OneRank alone;
  const InterruptionPoll poll(request.interruption, alone);
  const Exporting exporting{loaded.components(), loaded.precision(), request.checkpoint,
                            std::move(facts),    request.folder,     {.program = request.program, .poll = &poll}};
  std::vector<ExportOutcome> outcomes;
  try {
    export_nodes(exporting, request.nodes, [&](const ExportOutcome& exported) { outcomes.push_back(exported); });
  } catch (const Interrupted&) {
    return outcomes;
  }
  return outcomes;
}

}  // namespace tenon::engine
