// Samples of the stream, cut into batches, through the model.
#include <engine/export_cases.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <engine/difference.hpp>
#include <engine/step_graph.hpp>
#include <tenon/components/distributed.hpp>

namespace tenon::engine {
namespace {

constexpr int64_t kExample = 4;  // at least: neither 1, which broadcasts, nor a size that is compared

/// Real samples, in evaluation, as the model gets them on its path.
Tensors samples_for(const Components& components, const core::Node& model, Feed& feed, Collectives& ranks,
                    const Refuse& refuse) {
  feed.start(0, 0, 1);
  std::optional<DeviceBatch> batch = feed.next();
  if (!batch || batch->samples == 0) refuse("there is no sample to verify the file with");
  const StepGraph graph(components, feed.path());
  const Values values = graph.forward(std::move(batch->fields), ranks, 0, false, 0, at::detail::createCPUGenerator());
  return StepGraph::inputs(model, values);
}

/// `count` rows from `first` on, without the first `skip` ones where that leaves any; begins anew behind the last.
Tensors rows(const Tensors& samples, int64_t first, int64_t count, int64_t skip) {
  Tensors chosen;
  for (const auto& [port, tensor] : samples) {
    if (tensor.dim() == 0) {
      chosen.set(port, tensor.cpu());
      continue;
    }
    const int64_t left_out = tensor.size(0) > skip ? skip : 0;
    const at::Tensor index = at::arange(first, first + count, at::TensorOptions(at::kLong));
    chosen.set(port, tensor.cpu().index_select(0, index.remainder(tensor.size(0) - left_out) + left_out));
  }
  return chosen;
}

/// One call in evaluation.
Tensors run_live(const Components& components, const core::Node& model, const ExportCase& on, uint64_t key) {
  OneRank alone;
  StepContext context(alone, 0, false, key, at::detail::createCPUGenerator());
  return components.entering(
      model.name, "forward", [&] { return fmt::format("cannot run at batch {}", on.batch); },
      [&] { return components.node<Model>(model.name).root()(copy_of(on.in), context); });
}

void require_function(const ExportCase& on, const Tensors& again, const Refuse& refuse) {
  for (const auto& [name, tensor] : on.wanted) {
    if (at::isFloatingType(tensor.scalar_type()) && tensor.isnan().any().item<bool>()) {
      refuse(
          fmt::format("the live model itself gives NaN in the output \"{}\" at batch {}, so that no file can be "
                      "compared with it. Mend the model, or export a checkpoint from before it diverged",
                      name, on.batch));
    }
    const at::Tensor* const other = again.find(name);
    if (other != nullptr && same_bits(tensor, *other)) continue;
    refuse(fmt::format(
        "the live model itself is random in evaluation, or keeps state: called twice on the same inputs at batch {} it "
        "gives two different outputs \"{}\". Let dropout, noise and running statistics ask Module::trains(context)",
        on.batch, name));
  }
}

}  // namespace

Tensors copy_of(const Tensors& tensors) {
  Tensors copies;
  for (const auto& [name, tensor] : tensors) copies.set(name, tensor.clone());
  return copies;
}

std::vector<ExportCase> export_cases(const Components& components, const core::Node& model, Feed& feed,
                                     Collectives& ranks, const Verify& verify, const Refuse& refuse) {
  const c10::NoGradGuard no_grad;
  const Tensors samples = samples_for(components, model, feed, ranks, refuse);
  int64_t example = kExample;
  while (std::find(verify.batch.begin(), verify.batch.end(), example) != verify.batch.end()) ++example;
  std::vector<ExportCase> cases{{example, rows(samples, 0, example, 0), {}}};
  int64_t used = 0;
  for (const int64_t batch : verify.batch) {
    cases.push_back({batch, rows(samples, used, batch, example), {}});
    used += batch;
  }
  for (ExportCase& each : cases) {
    each.wanted = run_live(components, model, each, 0);
    require_function(each, run_live(components, model, each, 1), refuse);
  }
  return cases;
}

}  // namespace tenon::engine
