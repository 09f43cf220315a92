// Undoing what transforms did to the scale of fields.
#include <engine/rescaling.hpp>

#include <optional>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <engine/engine.hpp>
#include <engine/step_graph.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::engine {
namespace {

/// One number for all, or one for each element of an axis of the samples that `values` stacks.
at::Tensor along_axis(const std::vector<double>& numbers, int64_t axis, const at::Tensor& values) {
  const auto count = static_cast<int64_t>(numbers.size());
  const at::Tensor all = at::tensor(at::ArrayRef<double>(numbers), at::TensorOptions(at::kDouble)).to(values.device());
  if (count == 1) return all.squeeze(0);
  const int64_t dim = axis < 0 ? values.dim() + axis : axis + 1;
  if (dim < 1 || dim >= values.dim() || values.size(dim) != count) {  // 0 counts the samples
    throw Error(ErrorCode::kConfig,
                fmt::format("has {} factors for axis {} of the samples in {}", count, axis, describe(values)));
  }
  std::vector<int64_t> shape(static_cast<std::size_t>(values.dim()), 1);
  shape[static_cast<std::size_t>(dim)] = count;
  return all.view(shape);
}

}  // namespace

at::Tensor undo_rescaling(const Components& components, const core::Path& path, std::string_view node,
                          std::string_view port, const at::Tensor& tensor) {
  at::Tensor values = tensor;
  for (const core::Undo& undo : path.undo) {
    if (undo.node != node || undo.port != port) continue;
    components.entering(undo.transform, "rescaling", "cannot undo its scaling", [&] {
      void* const ability = components.component(undo.transform).ability(Rescaled::kAbility);
      if (ability == nullptr) return;
      const std::optional<Rescaling> rescaling = static_cast<Rescaled*>(ability)->rescaling(undo.field);
      if (!rescaling) return;
      values = values.to(at::kDouble) * along_axis(rescaling->scale, rescaling->axis, values) +
               along_axis(rescaling->offset, rescaling->axis, values);
    });
  }
  return values;
}

}  // namespace tenon::engine
