// Preparing a run.
#include <engine/setup.hpp>

#include <ATen/ATen.h>

#include <engine/device.hpp>
#include <engine/models.hpp>
#include <engine/plan.hpp>

namespace tenon::engine {
namespace {

Collectives& join(Components& components, core::ComponentHandle& alone) {
  const std::string& name = components.graph().run.distributed;
  if (components.graph().find(name) != nullptr) {
    return components.entering(name, "cannot join the other ranks",
                               [&]() -> Collectives& { return components.node<Distributed>(name).join(); });
  }
  alone = components.create("distributed:single");
  return alone.as<Distributed>().join();
}

}  // namespace

Precision& precision_of(Components& components, core::ComponentHandle& plain) {
  const std::optional<std::string>& name = components.graph().fit.precision;
  if (name) return components.node<Precision>(*name);
  plain = components.create("precision:fp32");
  return plain.as<Precision>();
}

Setup::Setup(const RunRequest& request, Collectives* ranks)
    : request_(request),
      graph_(request.graph),
      device_(prepare_device(request.graph, request.resolved)),
      components_(request.graph, request.resolved, request.catalogue),
      ranks_(ranks),
      precision_(&precision_of(components_, plain_)),
      seed_(static_cast<uint64_t>(graph_.run.seed)),
      fit_feed_(components_, graph_.fit.path, seed_) {
  if (graph_.validate) validate_feed_.emplace(components_, graph_.validate->path, seed_);
  if (graph_.test) test_feed_.emplace(components_, graph_.test->path, seed_);
}

void Setup::prepare() {
  if (ranks_ == nullptr) ranks_ = &join(components_, alone_);
  std::vector<Feed*> feeds{&fit_feed_};
  if (validate_feed_) feeds.push_back(&*validate_feed_);
  if (test_feed_) feeds.push_back(&*test_feed_);
  const Untried untried = plan_networks(components_, {feeds.begin(), feeds.end()}, *precision_);

  open_datasets(components_);
  for (Feed* const feed : feeds) feed->connect(*ranks_, device_, precision_->storage());

  const at::TensorOptions options = at::TensorOptions(precision_->storage()).device(device_);
  for (const core::Node& node : graph_.nodes) {
    if (node.kind == "model") materialize_buffers(components_.node<Model>(node.name), options);
  }
  optimization_ = std::make_unique<Optimization>(components_, seed_, options);
  if (!untried.empty()) {
    for (const Feed* const feed : feeds) try_on_zeros(components_, *feed, *precision_, device_);
  }
  training_ = std::make_unique<Training>(components_, fit_feed_, *optimization_, *ranks_, *precision_, device_);
  if (training_->planned() < 1) {
    throw PlacedError(core::diagnose(components_.resolved(), "/fit/epochs",
                                     Error(ErrorCode::kConfig, "training would take no step")));
  }
  optimization_->schedule(training_->progress());
}

core::Json Setup::provenance() const {
  core::Json provenance = device_facts(device_);
  provenance["libtorch"] = request_.libtorch.version;
  provenance["data"] = data_fingerprints(components_);
  return provenance;
}

std::vector<std::pair<std::string, Observer*>> Setup::observers() const {
  std::vector<std::pair<std::string, Observer*>> observers;
  for (const auto* list : {&components_.stop(), &components_.observe()}) {
    for (const Components::Observing& each : *list) {
      observers.emplace_back(each.attached->use, &each.handle.as<Observer>());
    }
  }
  return observers;
}

}  // namespace tenon::engine
