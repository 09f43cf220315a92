// The training step.
#include <engine/training.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <engine/engine.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/random.hpp>

namespace tenon::engine {
namespace {

int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// A number for people: not-a-number has no sign.
std::string number_text(double value) { return std::isnan(value) ? "NaN" : fmt::format("{:g}", value); }

}  // namespace

at::Generator make_generator(c10::Device device) {
  return device.is_cpu() ? at::detail::createCPUGenerator() : at::globalContext().defaultGenerator(device).clone();
}

LossLog::LossLog(std::vector<core::LossTerm> terms, at::TensorOptions options)
    : terms_(std::move(terms)),
      sums_(at::zeros({2 * static_cast<int64_t>(terms_.size()) + 2}, options.dtype(at::kDouble))) {}

void LossLog::add(const std::vector<core::LossTerm>& losses, const std::vector<at::Tensor>& sums,
                  const std::vector<at::Tensor>& weights, const at::Tensor& norm) {
  std::vector<at::Tensor> parts(2 * terms_.size(), at::zeros({}, sums_.options()));
  for (std::size_t t = 0; t < losses.size(); ++t) {
    const auto same = [&](const core::LossTerm& term) { return term.node == losses[t].node; };
    const auto slot = static_cast<std::size_t>(std::find_if(terms_.begin(), terms_.end(), same) - terms_.begin());
    parts[2 * slot] = sums[t];
    parts[2 * slot + 1] = weights[t];
  }
  parts.push_back(norm.to(at::kDouble));
  parts.push_back(at::ones({}, sums_.options()));
  sums_.add_(at::stack(parts));
}

std::vector<std::pair<std::string, double>> LossLog::take() {
  const at::Tensor host = sums_.cpu();
  const auto* const values = host.const_data_ptr<double>();
  std::vector<std::pair<std::string, double>> log;
  double total = 0;
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const double mean = values[2 * t + 1] == 0 ? 0 : values[2 * t] / values[2 * t + 1];
    total += terms_[t].weight * mean;
    if (terms_.size() > 1) log.emplace_back("train.loss." + terms_[t].node, mean);
  }
  log.emplace(log.begin(), "train.loss", total);
  log.emplace_back("train.grad_norm", values[2 * terms_.size()] / std::max(1.0, values[2 * terms_.size() + 1]));
  sums_.zero_();
  return log;
}

void LossLog::state(StateIo& io) { nn::io(io, "log", sums_); }

namespace {

/// Each loss node once, with its weights of all phases added up: so it stands in "train.loss".
std::vector<core::LossTerm> terms_of(const core::Fit& fit) {
  std::vector<core::LossTerm> terms;
  for (const core::Phase& phase : fit.phases) {
    for (const core::LossTerm& term : phase.losses) {
      const auto same = [&](const core::LossTerm& other) { return other.node == term.node; };
      const auto found = std::find_if(terms.begin(), terms.end(), same);
      if (found == terms.end()) {
        terms.push_back(term);
      } else {
        found->weight += term.weight;
      }
    }
  }
  return terms;
}

}  // namespace

TrainingPlan::TrainingPlan(const core::Fit& fit, const Feed& feed, int64_t batches)
    : steps_per_epoch(ceil_divide(batches, fit.accumulate)),
      steps(fit.epochs.steps(steps_per_epoch, feed.batch_size() * fit.accumulate)),
      epochs(ceil_divide(steps, steps_per_epoch)) {}

std::optional<TrainingPlan> uncut_plan(const core::Resolved& resolved, const core::Fit& fit, const Feed& feed) {
  bool is_cut = false;
  std::optional<int64_t> kept;
  const auto look_at = [&](const char* pointer, std::optional<int64_t> limit) {
    if (!limit) return;
    if (resolved.origin(pointer).kind == core::LayerKind::kSet) {
      is_cut = true;
    } else {
      kept = std::min(*limit, kept.value_or(*limit));
    }
  };
  look_at("/fit/limit", feed.path().limit);
  look_at("/fit/overfit", feed.path().overfit);
  if (!is_cut) return std::nullopt;
  return TrainingPlan(fit, feed, feed.batches_within(kept));
}

Training::Training(const Components& components, Feed& feed, std::vector<Feed*> own_feeds, Optimization& optimization,
                   Collectives& ranks, Precision& precision, c10::Device device)
    : components_(components),
      fit_(components.graph().fit),
      feed_(feed),
      optimization_(optimization),
      ranks_(ranks),
      precision_(precision),
      device_(device),
      generator_(make_generator(device)),
      log_(terms_of(fit_), at::TensorOptions(device)),
      seed_(static_cast<uint64_t>(components.graph().run.seed)),
      plan_(fit_, feed) {
  for (std::size_t i = 0; i < fit_.phases.size(); ++i) {
    const core::Phase& phase = fit_.phases[i];
    phases_.push_back({phase, StepGraph(components, phase.path, &precision), own_feeds[i]});
  }
}

Progress Training::progress() const {
  Progress progress;
  progress.applied = applied_;
  progress.planned = plan_.steps;
  progress.steps_per_epoch = plan_.steps_per_epoch;
  progress.samples_per_step = feed_.batch_size() * fit_.accumulate;
  progress.epoch = epoch_;
  return progress;
}

void Training::start() {
  feed_.start(epoch_, batch_, plan_.epochs);
  for (const PhaseWork& work : phases_) {
    if (work.own_feed != nullptr) start_own(work);
  }
}

/// Its position is a function of the steps made.
void Training::start_own(const PhaseWork& work) {
  const int64_t batches = work.own_feed->batches();
  const int64_t each = work.phase.repeat * fit_.accumulate;
  const int64_t position = step_ * each;
  work.own_feed->start(position / batches, position % batches, ceil_divide(plan_.steps * each, batches) + 1);
}

Training::Window Training::fetch_window(const std::function<void()>& poll) {
  Window window;
  const int64_t count = std::min(fit_.accumulate, feed_.batches() - batch_);
  for (int64_t i = 0; i < count; ++i) window.push_back(feed_.next(poll).value());
  return window;
}

/// One window for each repetition, over the ends of epochs.
std::vector<Training::Window> Training::fetch_own(const PhaseWork& work, const std::function<void()>& poll) {
  std::vector<Window> windows(static_cast<std::size_t>(work.phase.repeat));
  for (Window& window : windows) {
    while (static_cast<int64_t>(window.size()) < fit_.accumulate) {
      if (std::optional<DeviceBatch> batch = work.own_feed->next(poll)) window.push_back(*std::move(batch));
    }
  }
  return windows;
}

/// What each term's sums are divided by: known before the first forward pass, over all micro-batches and ranks.
std::vector<at::Tensor> Training::window_weights(const core::Phase& phase, const Window& window) {
  std::vector<at::Tensor> weights;
  for (const core::LossTerm& term : phase.losses) {
    const core::Node& node = components_.graph().at(term.node);
    at::Tensor weight = at::zeros({}, at::TensorOptions(at::kDouble).device(device_));
    for (const DeviceBatch& batch : window) {
      if (batch.samples == 0) continue;
      components_.entering(term.node, "weight", "cannot tell the weight of a batch", [&] {
        weight.add_(loss_weight(components_.node<Loss>(term.node), node, batch.fields, batch.samples));
      });
    }
    if (ranks_.world() > 1) ranks_.all_reduce(weight, Collectives::Op::kSum);
    weights.push_back(weight);
  }
  return weights;
}

void Training::accumulate(const PhaseWork& work, const DeviceBatch& batch, int64_t micro_batch, uint64_t key,
                          Sums& sums) {
  at::Tensor total;
  const std::vector<core::LossTerm>& losses = work.phase.losses;
  const Values values = work.graph.forward(batch.fields, ranks_, micro_batch, true, key, generator_);
  for (std::size_t t = 0; t < losses.size(); ++t) {
    const core::LossTerm& term = losses[t];
    const core::Node& node = components_.graph().at(term.node);
    const auto doing = [&] { return fmt::format("cannot take {}", StepGraph::describe_inputs(node, values)); };
    const at::Tensor sum = components_.entering(term.node, "sum", doing, [&] {
      StepContext context(ranks_, micro_batch, true, random_key({key, name_key(term.node)}), generator_);
      return components_.node<Loss>(term.node).sum(work.graph.measured_inputs(node, values), context);
    });
    // λ·scale/W, and nothing for a term without weight, which drops out.
    const at::Tensor factor =
        at::where(sums.weights[t] > 0, term.weight * precision_.scale() / sums.weights[t], 0.0).to(sum.scalar_type());
    const at::Tensor part = sum * factor;
    total = total.defined() ? total + part : part;
    sums.sums[t].add_(sum.detach());
  }
  components_.entering(losses.front().node, core::kBackward, "cannot run backward", [&] { total.backward(); });
}

Training::Sums Training::gradients(const PhaseWork& work, const Window& window, int64_t repetition,
                                   const BeginPass& begin) {
  if (phases_.size() > 1) optimization_.focus(work.phase.optimizers);
  Sums sums;
  sums.weights = window_weights(work.phase, window);
  for (const at::Tensor& weight : sums.weights) sums.sums.push_back(at::zeros_like(weight));
  optimization_.zero_grad();
  for (std::size_t i = 0; i < window.size(); ++i) {
    if (window[i].samples == 0) continue;
    uint64_t key = random_key({seed_, name_key("step"), static_cast<uint64_t>(step_), static_cast<uint64_t>(i),
                               static_cast<uint64_t>(ranks_.rank())});
    // A pipeline without phases keeps its numbers, and each phase has its own, whatever stands beside it.
    if (!work.phase.name.empty()) {
      key = random_key({key, name_key(work.phase.name), static_cast<uint64_t>(repetition)});
    }
    if (begin) begin(work.phase, static_cast<int64_t>(i));
    accumulate(work, window[i], static_cast<int64_t>(i), key, sums);
  }
  return sums;
}

void Training::update(const PhaseWork& work, const Window& window, int64_t repetition) {
  Sums sums = gradients(work, window, repetition);
  const c10::NoGradGuard no_grad;
  optimization_.all_reduce(ranks_);
  if (ranks_.world() > 1) {
    at::Tensor all = at::stack(sums.sums);
    ranks_.all_reduce(all, Collectives::Op::kSum);
    sums.sums = all.unbind();
  }
  optimization_.unscale(precision_.scale());
  const at::Tensor norm = optimization_.norm();
  at::Tensor found_inf;
  bool finite = true;
  if (device_.is_cpu()) {
    const auto value = norm.item<double>();
    if (!std::isfinite(value)) diverged(work, value, sums, window);
  } else {
    found_inf = at::isfinite(norm).logical_not().to(at::kFloat);
    // Waits for the device, so that only a policy with a scale pays for it, and hears of an overflow.
    if (precision_.scale() != 1) finite = found_inf.item<float>() == 0;
  }
  if (fit_.clip_norm) optimization_.clip(norm, *fit_.clip_norm);
  optimization_.step(progress(), found_inf);
  precision_.update(finite);
  log_.add(work.phase.losses, sums.sums, sums.weights, norm);
}

StepReport Training::step(const std::function<void()>& poll) {
  const Window window = fetch_window(poll);
  std::vector<std::vector<Window>> own(phases_.size());
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    if (phases_[i].own_feed != nullptr) own[i] = fetch_own(phases_[i], poll);
  }
  StepReport report;
  report.epoch = epoch_;
  for (std::size_t i = 0; i < window.size(); ++i) report.samples += feed_.samples_of(batch_ + static_cast<int64_t>(i));
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    for (int64_t repetition = 0; repetition < phases_[i].phase.repeat; ++repetition) {
      update(phases_[i], own[i].empty() ? window : own[i][static_cast<std::size_t>(repetition)], repetition);
    }
  }

  ++step_;
  ++applied_;
  samples_ += report.samples;
  batch_ += static_cast<int64_t>(window.size());
  if (batch_ == feed_.batches()) {
    if (feed_.next()) throw Error(ErrorCode::kData, "the loader gave more batches than an epoch has");
    batch_ = 0;
    ++epoch_;
    report.epoch_end = true;
  }
  return report;
}

void Training::try_backward(const BeginPass& begin) {
  const int64_t step = std::exchange(step_, 0);
  const int64_t epoch = std::exchange(epoch_, 0);
  const int64_t batch = std::exchange(batch_, 0);
  start();
  const Window window = fetch_window({});
  for (const PhaseWork& work : phases_) {
    const Window own = work.own_feed == nullptr ? Window() : fetch_own(work, {}).front();
    static_cast<void>(gradients(work, work.own_feed == nullptr ? window : own, 0, begin));
  }
  step_ = step;
  epoch_ = epoch;
  batch_ = batch;
}

void Training::diverged(const PhaseWork& work, double norm, const Sums& sums, const Window& window) const {
  std::vector<std::string> losses;
  for (std::size_t t = 0; t < sums.sums.size(); ++t) {
    losses.push_back(fmt::format("{} = {}", work.phase.losses[t].node,
                                 number_text((sums.sums[t] / sums.weights[t]).item<double>())));
  }
  std::vector<std::string> rates;
  for (const auto& [key, value] : optimization_.logged()) {
    rates.push_back(fmt::format("{} = {}", key, number_text(value)));
  }
  std::vector<int64_t> samples;
  for (const DeviceBatch& batch : window) {
    samples.insert(samples.end(), batch.sample_ids.begin(), batch.sample_ids.end());
  }
  const std::size_t shown = std::min<std::size_t>(samples.size(), 8);
  const std::string message = fmt::format(
      "training diverged at step {} (epoch {}){}: the gradients' norm is {}, {}, {}; samples {}{}; this {} changed "
      "nothing, and checkpoints are as they were. Try a lower learning rate, clipping (fit.clip.norm), "
      "or look at those samples",
      step_ + 1, epoch_ + 1, work.phase.name.empty() ? "" : fmt::format(" in phase \"{}\"", work.phase.name),
      number_text(norm), fmt::join(losses, ", "), fmt::join(rates, ", "),
      fmt::join(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < samples.size() ? ", …" : "", work.phase.name.empty() ? "step" : "update");
  throw PlacedError(core::diagnose(components_.resolved(), "/fit", Error(ErrorCode::kDiverged, message)));
}

std::vector<std::pair<std::string, double>> Training::take_log() {
  std::vector<std::pair<std::string, double>> values = log_.take();
  for (const auto& [key, value] : values) {
    if (!std::isfinite(value)) {
      const std::string message = fmt::format(
          "training diverged before step {} (epoch {}): {} is {}; updates with such "
          "gradients were skipped. Try a lower learning rate or clipping (fit.clip.norm)",
          step_, epoch_ + 1, key, number_text(value));
      throw PlacedError(core::diagnose(components_.resolved(), "/fit", Error(ErrorCode::kDiverged, message)));
    }
  }
  for (auto& value : optimization_.logged()) values.push_back(std::move(value));
  return values;
}

void Training::state(StateIo& io) {
  io.io("step", step_);
  io.io("applied", applied_);
  io.io("epoch", epoch_);
  io.io("batch", batch_);
  io.io("samples", samples_);
  int64_t batch_size = feed_.batch_size();
  io.io("batch_size", batch_size);
  log_.state(io);
  if (!io.saving()) replan(batch_size);
}

void Training::replan(int64_t saved_batch_size) {
  batch_ = batch_ * saved_batch_size / feed_.batch_size();
  if (batch_ >= feed_.batches()) {
    batch_ = 0;
    ++epoch_;
  }
  const int64_t position = epoch_ * plan_.steps_per_epoch + ceil_divide(batch_, fit_.accumulate);
  // The same position in another number of steps: what is left of the plan stays.
  if (position != step_) plan_.steps = step_ + std::max<int64_t>(plan_.steps - position, 0);
  const int64_t left = std::max<int64_t>(plan_.steps - step_, 0) * fit_.accumulate + batch_;
  plan_.epochs = epoch_ + ceil_divide(left, plan_.steps_per_epoch * fit_.accumulate);
}

}  // namespace tenon::engine
