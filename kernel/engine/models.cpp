// Memory, names and values of the networks.
#include <engine/models.hpp>

#include <algorithm>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <engine/engine.hpp>
#include <tenon/random.hpp>
#include <tenon/spec.hpp>
#include <tenon/tensors.hpp>

namespace tenon::engine {
namespace {

constexpr int64_t kAlignment = 16;  // elements of float32 in 64 bytes

int64_t aligned(int64_t count) { return (count + kAlignment - 1) / kAlignment * kAlignment; }

std::string spelled(const at::Tensor& tensor) {
  FieldSpec field{"", dtype_of(tensor.scalar_type()), {}};
  for (const int64_t size : tensor.sizes()) field.shape.emplace_back(size);
  return to_string(field);
}

[[noreturn]] void refuse_glob(const Components& components, const core::Node& optimizer, std::size_t group,
                              const std::vector<NamedParam>& params) {
  std::vector<std::string> names;
  names.reserve(params.size());
  for (const NamedParam& param : params) names.push_back(param.name);
  if (names.size() > 12) {
    const std::size_t left = names.size() - 12;
    names.resize(12);
    names.push_back(fmt::format("and {} more", left));
  }
  const std::string message =
      fmt::format("the group \"{}\" matches no parameter that is still free; parameters are: {}",
                  optimizer.groups[group].match, fmt::join(names, ", "));
  throw PlacedError(core::diagnose(components.resolved(), fmt::format("{}/groups/{}/match", optimizer.pointer, group),
                                   Error(ErrorCode::kConfig, message)));
}

}  // namespace

bool glob_match(std::string_view glob, std::string_view name) noexcept {
  std::size_t g = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
      ++g;
      ++n;
    } else if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string_view::npos;
}

std::vector<PlannedGroup> plan_groups(const Components& components, const core::Node& optimizer) {
  std::vector<NamedParam> params;
  for (const std::string& node : optimizer.of) {
    components.node<Model>(node).root().visit_params([&](const std::string& name, nn::Param& slot) {
      params.push_back({fmt::format("{}.{}", node, name), &slot});
    });
  }
  std::vector<PlannedGroup> groups(optimizer.groups.size() + 1);
  for (std::size_t i = 0; i < optimizer.groups.size(); ++i) groups[i].with = optimizer.groups[i].with;
  groups.back().with = core::Json::object();
  for (const NamedParam& param : params) {
    std::size_t chosen = 0;
    while (chosen < optimizer.groups.size() && !glob_match(optimizer.groups[chosen].match, param.name)) ++chosen;
    groups[chosen].params.push_back(param);
  }
  for (std::size_t i = 0; i < optimizer.groups.size(); ++i) {
    if (groups[i].params.empty()) refuse_glob(components, optimizer, i, params);
  }
  std::erase_if(groups, [](const PlannedGroup& group) { return group.params.empty(); });
  return groups;
}

std::vector<std::pair<std::string, at::Tensor>> model_tensors(Model& model) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  model.root().visit_params(
      [&](const std::string& name, nn::Param& slot) { tensors.emplace_back(name, slot.value().detach()); });
  model.root().visit_buffers(
      [&](const std::string& name, nn::Buffer& slot) { tensors.emplace_back(name, slot.value()); });
  return tensors;
}

namespace {

/// Float32 on the CPU, whatever device and type the parameter will have: keyed by the seed and the full name alone.
at::Tensor first_value(nn::Param& slot, const std::string& name, uint64_t seed, at::Generator& random) {
  at::Tensor value = at::empty(slot.shape(), at::TensorOptions(at::kFloat));
  random.set_current_seed(random_key({seed, name_key("initial value"), name_key(name)}));
  slot.initialize(value, random);
  return value;
}

}  // namespace

ParamGroup materialize(const PlannedGroup& planned, const std::vector<std::pair<std::string, double>>& hypers,
                       uint64_t seed, at::TensorOptions options) {
  int64_t total = 0;
  for (const NamedParam& param : planned.params) total += aligned(elements(param.slot->shape()));
  ParamGroup group;
  group.flat_param = at::zeros({total}, options);
  group.flat_grad = at::zeros({total}, options);
  at::Generator random = at::detail::createCPUGenerator();
  int64_t offset = 0;
  for (const NamedParam& param : planned.params) {
    const std::vector<int64_t>& shape = param.slot->shape();
    const int64_t count = elements(shape);
    const at::Tensor initial = first_value(*param.slot, param.name, seed, random);
    at::Tensor value = group.flat_param.narrow(0, offset, count).view(shape);
    value.copy_(initial);
    value = value.detach().set_requires_grad(true);
    const at::Tensor gradient = group.flat_grad.narrow(0, offset, count).view(shape);
    value.mutable_grad() = gradient;
    param.slot->set(value);
    group.names.push_back(param.name);
    group.params.push_back(value);
    group.grads.push_back(gradient);
    offset += aligned(count);
  }
  for (const auto& [name, value] : hypers) {
    group.hypers.push_back({name, at::full({}, value, options.dtype(at::kDouble)), value});
  }
  return group;
}

void materialize_buffers(Model& model, at::TensorOptions options) {
  model.root().visit_buffers([&](const std::string& /*name*/, nn::Buffer& slot) {
    at::ScalarType type = slot.dtype();
    if (at::isFloatingType(type)) type = at::promoteTypes(type, at::typeMetaToScalarType(options.dtype()));
    slot.set(at::full(slot.shape(), slot.fill(), options.dtype(type)));
  });
}

void materialize_frozen(Model& model, const std::string& node, uint64_t seed, at::TensorOptions options) {
  at::Generator random = at::detail::createCPUGenerator();
  model.root().visit_params([&](const std::string& name, nn::Param& slot) {
    const at::Tensor initial = first_value(slot, fmt::format("{}.{}", node, name), seed, random);
    slot.set(at::empty(slot.shape(), options).copy_(initial));
  });
}

void materialize_untrained(Model& model, at::TensorOptions options) {
  model.root().visit_params(
      [&](const std::string& /*name*/, nn::Param& slot) { slot.set(at::zeros(slot.shape(), options)); });
  materialize_buffers(model, options);
}

void share_buffers(const Components& components, Collectives& ranks) {
  if (ranks.world() == 1) return;
  visit_models(components, [&](const core::Node& /*node*/, Model& model) {
    model.root().visit_buffers([&](const std::string& /*name*/, nn::Buffer& slot) {
      at::Tensor value = slot.value();
      ranks.broadcast(value, 0);
    });
  });
}

void move_model(Model& model, c10::Device device) {
  model.root().visit_params(
      [&](const std::string& /*name*/, nn::Param& slot) { slot.set(slot.value().detach().to(device)); });
  model.root().visit_buffers([&](const std::string& /*name*/, nn::Buffer& slot) { slot.set(slot.value().to(device)); });
}

namespace {

/// What came of filling a model from a file.
struct Filling {
  std::size_t matched = 0;
  std::size_t tensors = 0;
  std::vector<std::string> problems;

  [[nodiscard]] std::string text() const {
    constexpr std::size_t kShown = 8;
    std::vector<std::string> shown(problems.begin(),
                                   problems.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, problems.size())));
    if (shown.size() < problems.size()) shown.push_back(fmt::format("and {} more", problems.size() - shown.size()));
    return fmt::format("{} of {} tensors matched; {}", matched, tensors, fmt::join(shown, "; "));
  }
};

/// Fills what fits by name and shape; types must be equal, or floating where `convert` says so.
Filling fill(Model& model, const core::Safetensors& saved, bool convert) {
  Filling filling;
  const c10::NoGradGuard no_grad;
  auto tensors = model_tensors(model);
  filling.tensors = tensors.size();
  for (auto& [name, tensor] : tensors) {
    const core::Safetensors::Tensor* const found = saved.find(name);
    if (found == nullptr) {
      filling.problems.push_back(fmt::format("\"{}\" is missing", name));
      continue;
    }
    const at::Tensor value = at::from_blob(found->array.data, found->shape, scalar_type(found->array.dtype));
    const bool converts = convert && value.is_floating_point() && tensor.is_floating_point();
    if (value.sizes() != tensor.sizes() || (value.scalar_type() != tensor.scalar_type() && !converts)) {
      filling.problems.push_back(fmt::format("\"{}\" is {} there and {} here", name, spelled(value), spelled(tensor)));
      continue;
    }
    tensor.copy_(value);
    ++filling.matched;
  }
  for (const core::Safetensors::Tensor& each : saved.tensors()) {
    if (std::none_of(tensors.begin(), tensors.end(), [&](const auto& have) { return have.first == each.name; })) {
      filling.problems.push_back(fmt::format("\"{}\" is not part of this model", each.name));
    }
  }
  return filling;
}

/// The prefix that the file puts before every name of the model; empty where there is none.
std::string prefix_in(const core::Safetensors& saved, Model& model) {
  const auto tensors = model_tensors(model);
  if (tensors.empty()) return "";
  const std::string& first = tensors.front().first;
  for (const core::Safetensors::Tensor& each : saved.tensors()) {
    if (!each.name.ends_with("." + first)) continue;
    std::string prefix = each.name.substr(0, each.name.size() - first.size());
    const bool all = std::all_of(tensors.begin(), tensors.end(),
                                 [&](const auto& own) { return saved.find(prefix + own.first) != nullptr; });
    if (all) return prefix;
  }
  return "";
}

}  // namespace

void load_model(Model& model, const std::string& node, const core::Checkpoint& checkpoint) {
  const Filling filling = fill(model, checkpoint.tensors("model." + node), false);
  if (filling.problems.empty()) return;
  throw Error(ErrorCode::kCheckpoint, fmt::format("the weights of \"{}\" in {} do not fit: {}", node,
                                                  checkpoint.path().string(), filling.text()));
}

void load_first_values(const Components& components, const core::Node& node) {
  if (node.load.empty()) return;
  const auto refuse = [&](const std::string& message) {
    throw PlacedError(
        core::diagnose(components.resolved(), node.pointer + "/load", Error(ErrorCode::kConfig, message)));
  };
  try {
    auto& model = components.node<Model>(node.name);
    const core::Safetensors saved = core::Safetensors::read(node.load);
    const Filling filling = fill(model, saved, true);
    if (filling.problems.empty()) return;
    const std::string prefix = filling.matched == 0 ? prefix_in(saved, model) : "";
    refuse(fmt::format("{} does not fit model \"{}\": {}{}", node.load.string(), node.name, filling.text(),
                       prefix.empty() ? ""
                                      : fmt::format("; every name of the model is there behind \"{}\": save the file "
                                                    "without this prefix",
                                                    prefix)));
  } catch (const PlacedError&) {
    throw;
  } catch (const Error& error) {
    refuse(error.what());
  }
}

}  // namespace tenon::engine
