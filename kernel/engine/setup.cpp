// Preparing a run.
#include <engine/setup.hpp>

#include <core/graph/used_plugins.hpp>

#include <ATen/ATen.h>

#include <engine/device.hpp>
#include <engine/fitting.hpp>
#include <engine/models.hpp>
#include <engine/plan.hpp>

namespace tenon::engine {
namespace {

Collectives& join(Components& components, core::ComponentHandle& alone, std::optional<GuardedCollectives>& joined) {
  const std::string& name = components.graph().run.distributed;
  if (components.graph().find(name) != nullptr) {
    return components.entering(name, "join", "cannot join the other ranks", [&]() -> Collectives& {
      return joined.emplace(components.node<Distributed>(name).join(), components.callee(name));
    });
  }
  alone = components.create(core::kOneProcess);
  return joined.emplace(alone.as<Distributed>().join(), alone.callee());
}

}  // namespace

Precision& precision_of(Components& components, GuardedPrecision& guarded) {
  const std::optional<std::string>& name = components.graph().fit.precision;
  if (name) {
    guarded.guard(components.node<Precision>(*name), components.callee(*name));
  } else {
    guarded.own(components.create(core::kFullPrecision));
  }
  return guarded;
}

Setup::Setup(const RunRequest& request, Collectives* ranks)
    : request_(request),
      graph_(request.graph),
      device_(prepare_device(request.graph, request.resolved)),
      components_(request.graph, request.resolved, request.catalogue),
      ranks_(ranks),
      precision_(&precision_of(components_, guarded_)),
      seed_(static_cast<uint64_t>(graph_.run.seed)),
      fit_feed_(components_, graph_.fit.path, seed_) {
  for (const core::Phase& phase : graph_.fit.phases) {
    phase_feeds_.push_back(phase.own_data ? std::make_unique<Feed>(components_, phase.path, seed_) : nullptr);
  }
  for (const core::Validation& validation : graph_.validations) {
    validate_feeds_.push_back(std::make_unique<Feed>(components_, validation.path, seed_));
  }
  if (graph_.test) test_feed_.emplace(components_, graph_.test->path, seed_);
  if (graph_.predict) predict_feed_.emplace(components_, graph_.predict->path, seed_);
}

void Setup::prepare() {
  if (ranks_ == nullptr) ranks_ = &join(components_, alone_, joined_);
  std::vector<Feed*> feeds{&fit_feed_};
  for (const auto* const list : {&phase_feeds_, &validate_feeds_}) {
    for (const auto& feed : *list) {
      if (feed) feeds.push_back(feed.get());
    }
  }
  if (test_feed_) feeds.push_back(&*test_feed_);
  std::vector<const Feed*> planned{feeds.begin(), feeds.end()};
  if (predict_feed_) planned.push_back(&*predict_feed_);  // its data need not be there yet
  const Untried untried = plan_networks(components_, planned, *precision_);

  for (const Feed* const feed : feeds) paths_.push_back(&feed->path());
  open_datasets(components_, paths_);
  const InterruptionPoll poll(request_.interruption, *ranks_);
  connect(feeds, poll);
  poll.together();
  fit_data();
  poll.together();

  const at::TensorOptions options = at::TensorOptions(precision_->storage()).device(device_);
  visit_models(components_, [&](const core::Node& node, Model& model) {
    materialize_buffers(model, options);
    if (!node.frozen) return;
    materialize_frozen(model, node.name, seed_, options);
    load_values(node);
  });
  optimization_ =
      std::make_unique<Optimization>(components_, seed_, options, [&](const core::Node& model) { load_values(model); });
  if (!untried.empty()) {
    for (const Feed* const feed : feeds) try_on_zeros(components_, *feed, *precision_, device_);
  }
  std::vector<Feed*> own_feeds;
  for (const auto& feed : phase_feeds_) own_feeds.push_back(feed.get());
  training_ = std::make_unique<Training>(components_, fit_feed_, std::move(own_feeds), *optimization_, *ranks_,
                                         *precision_, device_);
  if (training_->planned() < 1) {
    throw PlacedError(core::diagnose(components_.resolved(), "/fit/epochs",
                                     Error(ErrorCode::kConfig, "training would take no step")));
  }
  if (const auto uncut = uncut_plan(components_.resolved(), graph_.fit, fit_feed_)) {
    optimization_->shorten_schedules(training_->progress(), {uncut->steps, uncut->steps_per_epoch});
  }
  optimization_->schedule(training_->progress());
}

/// Samplers may read all data for this. A rank that hears a signal meanwhile leaves the rest, and meets the others
/// behind.
void Setup::connect(const std::vector<Feed*>& feeds, const InterruptionPoll& poll) {
  const auto heard = [&] {
    if (const int signal = poll.heard(); signal != 0) throw Interrupted{signal};
  };
  try {
    for (Feed* const feed : feeds) feed->connect(*ranks_, device_, precision_->storage(), heard);
  } catch (const Interrupted&) {
    return;
  }
}

/// A run that goes on takes what was learned from its checkpoint.
void Setup::fit_data() {
  if (request_.resume) return;
  FitOptions options;
  options.ended = [&] { return request_.interruption != nullptr && request_.interruption->signal() != 0; };
  options.ranks = ranks_->world();
  options.remark = [&](const std::string& text) { notes_.push_back(text); };
  fit_transforms(components_, graph_.fit.path, seed_, options);
}

/// First values are needed where no checkpoint gives others: their file may be gone by then.
void Setup::load_values(const core::Node& model) {
  if (request_.resume && !request_.begin_anew.contains(model.name)) return;
  load_first_values(components_, model);
}

core::Json Setup::provenance() const {
  core::Json provenance = device_facts(device_);
  provenance["libtorch"] = request_.libtorch.version;
  provenance["data"] = data_fingerprints(components_, paths_);
  return provenance;
}

std::vector<Listener> Setup::observers() const {
  std::vector<Listener> observers;
  for (const auto* list : {&components_.stop(), &components_.observe()}) {
    for (const Components::Observing& each : *list) {
      observers.push_back({each.attached->use, &each.handle.as<Observer>(), each.handle.callee()});
    }
  }
  return observers;
}

}  // namespace tenon::engine
