// One path over loaded weights.
#include <engine/evaluation.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <ATen/ATen.h>

#include <core/storage/checkpoint.hpp>
#include <engine/bad_samples.hpp>
#include <engine/evaluate.hpp>
#include <engine/loaded.hpp>
#include <engine/ranks.hpp>
#include <engine/training.hpp>

namespace tenon::engine {

namespace {

/// One rank's part.
std::map<std::string, double> measure(const EvaluateRequest& request, Collectives& ranks) {
  const std::vector<const core::Path*> paths = request.graph.paths();
  const core::Path* const path =
      *std::find_if(paths.begin(), paths.end(), [&](const core::Path* each) { return each->name == request.path; });
  Loaded loaded(request.graph, request.resolved, request.catalogue, std::array{path},
                core::read_checkpoint(request.checkpoint));
  if (ranks.rank() == 0) tell_remarks(loaded.components(), std::array{path}, request.remark);
  const InterruptionPoll poll(nullptr, ranks);
  const Evaluator evaluator(loaded.components(), ranks, loaded.precision(), poll, make_generator(loaded.device()));
  Feed& feed = loaded.connect(0, ranks);
  std::map<std::string, double> metrics = evaluator.measure(feed, path->name);
  std::vector<std::string> told = feed.take_messages();
  told.push_back(describe_bad_samples(feed, path->name, ranks));
  for (const std::string& text : told) {
    if (ranks.rank() == 0 && request.remark && !text.empty()) request.remark(text);
  }
  return metrics;
}

}  // namespace

std::map<std::string, double> evaluate_checkpoint(const EvaluateRequest& request) {
  std::map<std::string, double> metrics;
  const bool several =
      run_in_process(request.graph, request.resolved, request.catalogue, [&](int64_t rank, Collectives& ranks) {
        return [&request, &metrics, &ranks, rank] {
          auto own = measure(request, ranks);
          if (rank == 0) metrics = std::move(own);
        };
      });
  if (several) return metrics;
  OneRank alone;
  return measure(request, alone);
}

}  // namespace tenon::engine
