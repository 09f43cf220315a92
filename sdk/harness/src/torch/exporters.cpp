// Write, open, run, compare.
#include <tenon/harness/exporters.hpp>

#include <algorithm>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <tenon/harness/network.hpp>

namespace tenon::harness {

Tensors with_batch(const Tensors& in, int64_t batch) {
  Tensors out;
  for (const auto& [name, tensor] : in) {
    if (tensor.dim() == 0 || tensor.size(0) == 0) {
      out.set(name, tensor);
      continue;
    }
    const at::Tensor rows = at::arange(batch).remainder(tensor.size(0));
    out.set(name, tensor.index_select(0, rows).contiguous());
  }
  return out;
}

std::string difference(const std::string& name, const at::Tensor& got, const at::Tensor& wanted, const Verify& verify) {
  if (got.scalar_type() != wanted.scalar_type() || got.sizes() != wanted.sizes()) {
    return "\"" + name + "\" has another type or shape than the live model's";
  }
  if (!wanted.is_floating_point()) return at::equal(got, wanted) ? "" : "\"" + name + "\" differs";
  const at::Tensor g = got.to(at::kDouble);
  const at::Tensor w = wanted.to(at::kDouble);
  const at::Tensor finite = w.masked_select(w.isfinite()).abs();
  const double largest = finite.numel() == 0 ? 1 : finite.max().item<double>();
  const at::Tensor allowed = w.abs() * verify.rtol + verify.atol * std::min(1.0, largest);
  const at::Tensor agrees = ((g - w).abs() <= allowed).logical_or(w.isinf().logical_and(g == w));
  if (agrees.all().item<bool>()) return {};
  const auto most = (g - w).abs().max().item<double>();
  return "\"" + name + "\" differs from the live model by up to " + std::to_string(most);
}

std::vector<std::string> export_differences(Exporter& exporter, Model& model, const Tensors& example,
                                            const std::filesystem::path& file) {
  const c10::NoGradGuard no_grad;
  model.root().train(false);
  std::vector<std::string> outputs;
  for (const auto& [name, tensor] : run(model.root(), example, false)) outputs.push_back(name);
  exporter.write(model, example, outputs, file);
  const std::unique_ptr<Runnable> runnable = exporter.open(file);
  std::vector<std::string> differences;
  for (const int64_t batch : exporter.verify().batch) {
    const Tensors in = with_batch(example, batch);
    const Tensors wanted = run(model.root(), in, false);
    const Tensors got = runnable->run(in);
    for (const std::string& name : outputs) {
      const at::Tensor* const tensor = got.find(name);
      const std::string found = tensor == nullptr ? "the file gives no output \"" + name + "\""
                                                  : difference(name, *tensor, wanted.at(name), exporter.verify());
      if (!found.empty()) differences.push_back(found + ", at a batch of " + std::to_string(batch));
    }
  }
  return differences;
}

}  // namespace tenon::harness
