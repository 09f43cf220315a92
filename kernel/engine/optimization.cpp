// Gradients, schedules, updates.
#include <engine/optimization.hpp>

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <engine/engine.hpp>

namespace tenon::engine {
namespace {

/// Names and configured values of the schedulable parameters, in the order of declaration.
std::vector<std::pair<std::string, double>> schedulable(const core::Node& optimizer) {
  std::vector<std::pair<std::string, double>> hypers;
  const core::Json& schema = optimizer.info->parameters;
  for (const core::Json& name : schema.at("x-order")) {
    const core::Json& property = schema.at("properties").at(name.get<std::string>());
    if (property.value("x-schedulable", false)) {
      hypers.emplace_back(name.get<std::string>(), optimizer.with.at(name.get<std::string>()).get<double>());
    }
  }
  return hypers;
}

}  // namespace

Optimization::Optimization(const Components& components, uint64_t seed, at::TensorOptions options,
                           const std::function<void(const core::Node&)>& fill)
    : components_(components), schedules_(components) {
  for (const std::string& name : components.graph().fit.optimizers) {
    auto trained = std::make_unique<Trained>();
    trained->node = &components.graph().at(name);
    for (const PlannedGroup& planned : plan_groups(components, *trained->node)) {
      auto hypers = schedulable(*trained->node);
      std::vector<double> configured;
      for (auto& [hyper, value] : hypers) {
        if (planned.with.contains(hyper)) value = planned.with.at(hyper).get<double>();
        configured.push_back(value);
      }
      components.entering(name, "attach", "cannot give its parameters memory",
                          [&] { trained->groups.push_back(materialize(planned, hypers, seed, options)); });
      trained->configured.push_back(std::move(configured));
    }
    for (const std::string& model : trained->node->of) fill(components.graph().at(model));
    components.entering(name, "attach", "cannot attach to its parameters",
                        [&] { components.node<Optimizer>(name).attach(trained->groups); });
    trained_.push_back(std::move(trained));
  }
}

void Optimization::focus(const std::vector<std::string>& optimizers) {
  for (const auto& trained : trained_) {
    const bool active = std::find(optimizers.begin(), optimizers.end(), trained->node->name) != optimizers.end();
    if (std::exchange(trained->active, active) == active) continue;
    for (const ParamGroup& group : trained->groups) {
      for (const at::Tensor& param : group.params) param.set_requires_grad(active);
    }
  }
}

void Optimization::zero_grad() {
  visit_groups([](ParamGroup& group) { group.flat_grad.zero_(); });
}

void Optimization::all_reduce(Collectives& ranks) {
  if (ranks.world() == 1) return;
  visit_groups([&](ParamGroup& group) { ranks.all_reduce(group.flat_grad, Collectives::Op::kSum); });
}

void Optimization::unscale(double scale) {
  if (scale == 1) return;
  visit_groups([&](ParamGroup& group) { group.flat_grad.div_(scale); });
}

at::Tensor Optimization::norm() const {
  std::vector<at::Tensor> norms;
  visit_groups([&](const ParamGroup& group) { norms.push_back(at::linalg_vector_norm(group.flat_grad)); });
  return norms.size() == 1 ? norms.front() : at::linalg_vector_norm(at::stack(norms));
}

void Optimization::clip(const at::Tensor& norm, double bound) {
  const at::Tensor factor = (bound / (norm + 1e-6)).clamp_max(1.0);
  visit_groups([&](ParamGroup& group) { group.flat_grad.mul_(factor); });
}

void Optimization::shorten_schedules(const Progress& beginning, const UncutRun& uncut) {
  for (const std::string& name : components_.graph().fit.schedules) {
    schedules_.shorten(components_.graph().at(name), beginning, uncut);
  }
}

void Optimization::observe(const Progress& progress, const std::map<std::string, double>& results) {
  for (const std::string& name : components_.graph().fit.schedules) {
    const core::Node& node = components_.graph().at(name);
    const auto found = results.find(node.metric_key);
    if (found == results.end()) continue;
    Progress now = progress;
    now.metric = Observation{found->second, node.metric_direction.value_or(Direction::kMax)};
    static_cast<void>(schedules_.factor(node, now));  // takes effect in the step that follows
  }
}

void Optimization::schedule(const Progress& progress) {
  for (const std::string& name : components_.graph().fit.schedules) {
    const core::Node& node = components_.graph().at(name);
    const double factor = schedules_.factor(node, progress);
    for (const auto& trained : trained_) {
      if (trained->node->name != node.of.front()) continue;
      for (std::size_t g = 0; g < trained->groups.size(); ++g) {
        std::vector<Hyper>& hypers = trained->groups[g].hypers;
        const auto driven =
            std::find_if(hypers.begin(), hypers.end(), [&](const Hyper& hyper) { return hyper.name == node.field; });
        driven->value = trained->configured[g][static_cast<std::size_t>(driven - hypers.begin())] * factor;
        driven->tensor.fill_(driven->value);
      }
    }
  }
}

void Optimization::step(const Progress& progress, const at::Tensor& found_inf) {
  const c10::NoGradGuard no_grad;
  schedule(progress);
  for (const auto& trained : trained_) {
    if (!trained->active) continue;
    components_.entering(trained->node->name, "step", "cannot update its parameters", [&] {
      components_.node<Optimizer>(trained->node->name).step(Update{found_inf, {}});
    });
  }
}

std::vector<std::pair<std::string, double>> Optimization::logged() const {
  std::vector<std::pair<std::string, double>> values;
  for (const auto& trained : trained_) {
    // The last group is the one of parameters that no glob singles out, unless all are singled out.
    for (const Hyper& hyper : trained->groups.back().hypers) {
      const bool scheduled = std::any_of(
          components_.graph().fit.schedules.begin(), components_.graph().fit.schedules.end(), [&](const auto& name) {
            const core::Node& schedule = components_.graph().at(name);
            return schedule.of.front() == trained->node->name && schedule.field == hyper.name;
          });
      if (scheduled || hyper.name == "lr") {
        values.emplace_back(fmt::format("train.{}.{}", hyper.name, trained->node->name), hyper.value);
      }
    }
  }
  return values;
}

}  // namespace tenon::engine
