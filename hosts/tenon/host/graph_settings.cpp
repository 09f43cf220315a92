// Sections as phrases.
#include <host/graph_settings.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <host/pipeline.hpp>

namespace tenon::host {
namespace {

using Phrases = std::vector<std::string>;
using Lines = std::vector<std::pair<std::string, std::string>>;

std::string joined(const Phrases& phrases) { return fmt::format("{}", fmt::join(phrases, ", ")); }

/// "loss", "0.7 kd + 0.3 ce"
std::string losses_text(const std::vector<core::LossTerm>& losses) {
  if (losses.size() == 1 && losses.front().weight == 1) return losses.front().node;
  std::vector<std::string> terms;
  std::transform(losses.begin(), losses.end(), std::back_inserter(terms),
                 [](const core::LossTerm& term) { return fmt::format("{} {}", term.weight, term.node); });
  return fmt::format("{}", fmt::join(terms, " + "));
}

void add_limit(Phrases& phrases, const core::Path& path) {
  if (path.limit) phrases.push_back(fmt::format("at most {} batches a pass", *path.limit));
}

Phrases phase_phrases(const core::Phase& phase) {
  Phrases phrases{fmt::format("minimizes {}", losses_text(phase.losses))};
  if (!phase.optimizers.empty()) phrases.push_back(fmt::format("by {}", fmt::join(phase.optimizers, ", ")));
  return phrases;
}

void add_fit(Lines& lines, const core::Graph& graph) {
  const core::Fit& fit = graph.fit;
  Phrases phrases{fmt::format("{} of {}", to_string(fit.epochs), fit.path.data)};
  if (fit.phases.size() == 1 && fit.phases.front().name.empty()) {
    for (std::string& phrase : phase_phrases(fit.phases.front())) phrases.push_back(std::move(phrase));
  } else {
    phrases.push_back(fmt::format("a step is {} in order", counted(fit.phases.size(), "phase")));
  }
  if (fit.accumulate > 1) phrases.push_back(fmt::format("{} micro-batches an update", fit.accumulate));
  if (fit.clip_norm) phrases.push_back(fmt::format("gradients clipped at norm {}", *fit.clip_norm));
  phrases.push_back(fit.precision ? fmt::format("precision {}", *fit.precision) : "in float32");
  if (fit.path.overfit) phrases.push_back(fmt::format("overfit {}", *fit.path.overfit));
  add_limit(phrases, fit.path);
  lines.emplace_back("fit", joined(phrases));
  for (const core::Phase& phase : fit.phases) {
    if (phase.name.empty()) continue;
    Phrases own = phase_phrases(phase);
    if (phase.repeat > 1) own.push_back(fmt::format("{} times a step", phase.repeat));
    if (phase.own_data) own.push_back(fmt::format("on data of its own, {}", phase.path.data));
    lines.emplace_back(phase.path.name, joined(own));
  }
}

void add_predict(Lines& lines, const core::Predict& predict) {
  Phrases outputs;
  for (const core::PredictedOutput& output : predict.outputs) {
    const std::string source = fmt::format("{}.{}", output.source, output.output);
    outputs.push_back(output.name == source ? source : fmt::format("{} from {}", output.name, source));
  }
  Phrases phrases{fmt::format("{} on {}", fmt::join(outputs, ", "), predict.path.data)};
  add_limit(phrases, predict.path);
  lines.emplace_back("predict", joined(phrases));
}

void add_attached(Lines& lines, std::string_view section, const std::vector<core::Attached>& attached) {
  Phrases phrases;
  for (const core::Attached& each : attached) {
    phrases.push_back(each.metric_key.empty() ? each.use : fmt::format("{} ({})", each.use, each.metric_key));
  }
  if (!phrases.empty()) lines.emplace_back(section, joined(phrases));
}

std::string checkpoint_text(const core::CheckpointPlan& plan) {
  std::string text = fmt::format("{}, keeps the last {}", to_string(plan.every), plan.keep_last);
  if (!plan.best) return text;
  const std::string best = plan.best->count == 1 ? "best" : fmt::format("best {}", plan.best->count);
  return text + fmt::format(" and the {} by {}", best, plan.best->key);
}

std::string run_text(const core::RunSettings& run) {
  Phrases phrases{fmt::format("seed {}", run.seed), fmt::format("device {}", run.device),
                  fmt::format("determinism {}", run.determinism),
                  run.threads ? fmt::format("threads {}", *run.threads) : "threads auto"};
  if (run.distributed != "auto") phrases.push_back(fmt::format("distributed {}", run.distributed));
  return joined(phrases);
}

}  // namespace

std::string to_string(const core::Cadence& cadence) {
  std::vector<std::string> texts;
  for (const Span& span : cadence.spans) texts.push_back(tenon::to_string(span));
  for (const Time& time : cadence.times) texts.push_back(tenon::to_string(time));
  return fmt::format("every {}", fmt::join(texts, " or "));
}

std::vector<std::pair<std::string, std::string>> settings_of(const core::Graph& graph) {
  Lines lines;
  add_fit(lines, graph);
  const auto measured = [](const core::Path& path) {
    return Phrases{fmt::format("{} on {}", fmt::join(path.metrics, ", "), path.data)};
  };
  for (const core::Validation& validation : graph.validations) {
    Phrases phrases = measured(validation.path);
    phrases.push_back(to_string(validation.every));
    add_limit(phrases, validation.path);
    lines.emplace_back(validation.path.name, joined(phrases));
  }
  if (graph.test) {
    Phrases phrases = measured(graph.test->path);
    add_limit(phrases, graph.test->path);
    lines.emplace_back("test", joined(phrases));
  }
  if (graph.predict) add_predict(lines, *graph.predict);
  lines.emplace_back("checkpoint", checkpoint_text(graph.checkpoint));
  add_attached(lines, "stop", graph.stop);
  add_attached(lines, "observe", graph.observe);
  if (!graph.exports.empty()) lines.emplace_back("export", fmt::format("{}", fmt::join(graph.exports, ", ")));
  lines.emplace_back("run", run_text(graph.run));
  return lines;
}

}  // namespace tenon::host
