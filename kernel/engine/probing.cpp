// One forward and backward pass of the first training batch, watched.
#include <engine/probing.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <core/storage/checkpoint.hpp>
#include <engine/models.hpp>
#include <engine/restore.hpp>
#include <engine/setup.hpp>
#include <engine/step_graph.hpp>

namespace tenon::engine {
namespace {

/// Statistics of the finite elements.
void measure(const at::Tensor& tensor, ProbedOutput& row) {
  const at::Tensor values = tensor.detach().to(at::kCPU, at::kDouble).flatten();
  const at::Tensor finite = values.index({at::isfinite(values)});
  row.not_finite = values.numel() - finite.numel();
  if (finite.numel() == 0) return;
  row.mean = finite.mean().item<double>();
  row.deviation = finite.std(/*unbiased=*/false).item<double>();
  row.minimum = finite.min().item<double>();
  row.maximum = finite.max().item<double>();
  row.zeros = static_cast<double>((finite == 0).sum().item<int64_t>()) / static_cast<double>(finite.numel());
}

class Probe {
 public:
  Probe(const Components& components, const std::vector<std::string>& patterns)
      : graph_(components.graph()), patterns_(patterns) {
    visit_models(components, [&](const core::Node& node, Model& model) { names_.emplace(&model.root(), node.name); });
  }

  /// Of the batches of a window the first alone is looked at.
  void begin(const core::Phase& phase, int64_t micro_batch) {
    phase_ = phase.name;
    looking_ = micro_batch == 0;
    models_.clear();
    for (const std::string& name : phase.path.step) {
      if (graph_.at(name).kind == "model") models_.push_back(name);
    }
    std::reverse(models_.begin(), models_.end());
  }

  void see(const nn::Module& module, const Tensors& out) {
    if (!looking_ || models_.empty()) return;
    const std::string node = models_.back();
    if (&module == &module.root()) models_.pop_back();  // the last to be seen of a model
    const std::string path = module.path().empty() ? "" : "." + module.path();
    const std::string name = names_.at(&module.root()) + path;
    const bool wanted = std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
      return glob_match(pattern, name) || glob_match(pattern, node + path);
    });
    if (!wanted) return;
    for (const auto& [output, tensor] : out) {
      ProbedOutput row;
      row.phase = phase_;
      row.node = node;
      row.module = name;
      row.output = output;
      row.field = {output, dtype_of(tensor.scalar_type()), {}};
      for (const int64_t size : tensor.sizes()) row.field.shape.emplace_back(size);
      measure(tensor, row);
      rows_.push_back(std::move(row));
      if (!tensor.requires_grad()) continue;
      ProbedOutput& kept = rows_.back();
      tensor.register_hook([&kept](const at::Tensor& gradient) {
        kept.gradient_norm = at::linalg_vector_norm(gradient.detach().to(at::kDouble)).item<double>();
      });
    }
  }

  [[nodiscard]] std::vector<ProbedOutput> take() { return {rows_.begin(), rows_.end()}; }

 private:
  const core::Graph& graph_;
  const std::vector<std::string>& patterns_;
  std::map<const nn::Module*, std::string> names_;
  std::string phase_;
  bool looking_ = false;
  std::vector<std::string> models_;  // that are still to run, the next one last
  std::deque<ProbedOutput> rows_;    // hooks point into it
};

}  // namespace

std::vector<ProbedOutput> probe_modules(const ProbeRequest& request) {
  RunRequest run{.graph = request.graph,
                 .resolved = request.resolved,
                 .catalogue = request.catalogue,
                 .libtorch = {},
                 .environment = {},
                 .program = {},
                 .resume = nullptr,
                 .accepted = {},
                 .begin_anew = {},
                 .interrupt_at = {}};
  run.graph.validations.clear();  // training data alone is looked at
  run.graph.test.reset();
  run.graph.predict.reset();
  Setup setup(run, nullptr);
  setup.prepare();
  setup.tell_remarks(request.remark);
  if (request.checkpoint) {
    restore_values(setup.components(), core::read_checkpoint(*request.checkpoint));
  }
  Probe probe(setup.components(), request.patterns);
  {
    const nn::Module::Watch watch([&](const nn::Module& module, const Tensors& out) { probe.see(module, out); });
    setup.training().try_backward(
        [&](const core::Phase& phase, int64_t micro_batch) { probe.begin(phase, micro_batch); });
  }
  return probe.take();
}

}  // namespace tenon::engine
