// The training step.
#include <engine/training.hpp>

#include <algorithm>
#include <cmath>

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

void LossLog::add(const std::vector<at::Tensor>& sums, const std::vector<at::Tensor>& weights, const at::Tensor& norm) {
  std::vector<at::Tensor> parts;
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    parts.push_back(sums[t]);
    parts.push_back(weights[t]);
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

Training::Training(const Components& components, Feed& feed, Optimization& optimization, Collectives& ranks,
                   Precision& precision, c10::Device device)
    : components_(components),
      fit_(components.graph().fit),
      feed_(feed),
      optimization_(optimization),
      ranks_(ranks),
      precision_(precision),
      device_(device),
      graph_(components, fit_.path, &precision),
      generator_(make_generator(device)),
      log_(fit_.losses, at::TensorOptions(device)),
      seed_(static_cast<uint64_t>(components.graph().run.seed)),
      steps_per_epoch_(ceil_divide(feed.batches(), fit_.accumulate)),
      planned_(fit_.epochs.steps(steps_per_epoch_, feed.batch_size() * fit_.accumulate)),
      epochs_(ceil_divide(planned_, steps_per_epoch_)) {}

Progress Training::progress() const {
  Progress progress;
  progress.applied = applied_;
  progress.planned = planned_;
  progress.steps_per_epoch = steps_per_epoch_;
  progress.samples_per_step = feed_.batch_size() * fit_.accumulate;
  progress.epoch = epoch_;
  return progress;
}

void Training::start() { feed_.start(epoch_, batch_, epochs_); }

std::vector<DeviceBatch> Training::fetch_window(const std::function<void()>& poll) {
  std::vector<DeviceBatch> window;
  const int64_t count = std::min(fit_.accumulate, feed_.batches() - batch_);
  for (int64_t i = 0; i < count; ++i) window.push_back(feed_.next(poll).value());
  return window;
}

/// What each term's sums are divided by: known before the first forward pass, over all micro-batches and ranks.
std::vector<at::Tensor> Training::window_weights(const std::vector<DeviceBatch>& window) {
  std::vector<at::Tensor> weights;
  for (const core::LossTerm& term : fit_.losses) {
    const core::Node& node = components_.graph().at(term.node);
    at::Tensor weight = at::zeros({}, at::TensorOptions(at::kDouble).device(device_));
    for (const DeviceBatch& batch : window) {
      if (batch.samples == 0) continue;
      components_.entering(term.node, "cannot tell the weight of a batch", [&] {
        weight.add_(components_.node<Loss>(term.node).weight(StepGraph::batch_inputs(node, batch.fields)));
      });
    }
    if (ranks_.world() > 1) ranks_.all_reduce(weight, Collectives::Op::kSum);
    weights.push_back(weight);
  }
  return weights;
}

void Training::accumulate(DeviceBatch& batch, int64_t micro_batch, const std::vector<at::Tensor>& weights,
                          std::vector<at::Tensor>& sums) {
  const uint64_t key = random_key({seed_, name_key("step"), static_cast<uint64_t>(step_),
                                   static_cast<uint64_t>(micro_batch), static_cast<uint64_t>(ranks_.rank())});
  at::Tensor total;
  const Values values = graph_.forward(std::move(batch.fields), ranks_, micro_batch, true, key, generator_);
  for (std::size_t t = 0; t < fit_.losses.size(); ++t) {
    const core::LossTerm& term = fit_.losses[t];
    const core::Node& node = components_.graph().at(term.node);
    const auto doing = [&] { return fmt::format("cannot take {}", StepGraph::describe_inputs(node, values)); };
    const at::Tensor sum = components_.entering(term.node, doing, [&] {
      StepContext context(ranks_, micro_batch, true, random_key({key, name_key(term.node)}), generator_);
      return components_.node<Loss>(term.node).sum(graph_.measured_inputs(node, values), context);
    });
    // λ·scale/W, and nothing for a term without weight, which drops out.
    const at::Tensor factor =
        at::where(weights[t] > 0, term.weight * precision_.scale() / weights[t], 0.0).to(sum.scalar_type());
    const at::Tensor part = sum * factor;
    total = total.defined() ? total + part : part;
    sums[t].add_(sum.detach());
  }
  components_.entering(fit_.losses.front().node, "cannot run backward", [&] { total.backward(); });
}

StepReport Training::step(const std::function<void()>& poll) {
  std::vector<DeviceBatch> window = fetch_window(poll);
  const std::vector<at::Tensor> weights = window_weights(window);
  std::vector<at::Tensor> sums;
  for (std::size_t t = 0; t < fit_.losses.size(); ++t) sums.push_back(at::zeros_like(weights[t]));
  optimization_.zero_grad();
  StepReport report;
  report.epoch = epoch_;
  for (std::size_t i = 0; i < window.size(); ++i) {
    report.samples += feed_.samples_of(batch_ + static_cast<int64_t>(i));
    if (window[i].samples > 0) accumulate(window[i], static_cast<int64_t>(i), weights, sums);
  }
  const c10::NoGradGuard no_grad;
  optimization_.all_reduce(ranks_);
  if (ranks_.world() > 1) {
    at::Tensor all = at::stack(sums);
    ranks_.all_reduce(all, Collectives::Op::kSum);
    sums = all.unbind();
  }
  optimization_.unscale(precision_.scale());
  const at::Tensor norm = optimization_.norm();
  at::Tensor found_inf;
  if (device_.is_cpu()) {
    const auto value = norm.item<double>();
    if (!std::isfinite(value)) diverged(value, sums, weights, window);
  } else {
    found_inf = at::isfinite(norm).logical_not().to(at::kFloat);
  }
  if (fit_.clip_norm) optimization_.clip(norm, *fit_.clip_norm);
  optimization_.step(progress(), found_inf);
  precision_.update(true);
  log_.add(sums, weights, norm);

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

void Training::diverged(double norm, const std::vector<at::Tensor>& sums, const std::vector<at::Tensor>& weights,
                        const std::vector<DeviceBatch>& window) const {
  std::vector<std::string> losses;
  for (std::size_t t = 0; t < sums.size(); ++t) {
    losses.push_back(fmt::format("{} = {}", fit_.losses[t].node, number_text((sums[t] / weights[t]).item<double>())));
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
      "training diverged at step {} (epoch {}): the gradients' norm is {}, {}, {}; samples {}{}; this step changed "
      "nothing, and checkpoints are as they were. Try a lower learning rate, clipping (fit.clip.norm), "
      "or look at those samples",
      step_ + 1, epoch_ + 1, number_text(norm), fmt::join(losses, ", "), fmt::join(rates, ", "),
      fmt::join(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < samples.size() ? ", …" : "");
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
  const int64_t position = epoch_ * steps_per_epoch_ + ceil_divide(batch_, fit_.accumulate);
  // The same position in another number of steps: what is left of the plan stays.
  if (position != step_) planned_ = step_ + std::max<int64_t>(planned_ - position, 0);
  const int64_t left = std::max<int64_t>(planned_ - step_, 0) * fit_.accumulate + batch_;
  epochs_ = epoch_ + ceil_divide(left, steps_per_epoch_ * fit_.accumulate);
}

}  // namespace tenon::engine
