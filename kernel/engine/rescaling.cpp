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

/// One number for all, or one for each element of the last axis.
at::Tensor along_last_axis(const std::vector<double>& numbers, const at::Tensor& values) {
  const auto count = static_cast<int64_t>(numbers.size());
  const bool fits = count == 1 || (values.dim() > 0 && values.size(-1) == count);
  if (!fits) {
    throw Error(ErrorCode::kConfig, fmt::format("has {} factors for the last axis of {}", count, describe(values)));
  }
  const at::Tensor all = at::tensor(at::ArrayRef<double>(numbers), at::TensorOptions(at::kDouble));
  return (count == 1 ? all.squeeze(0) : all).to(values.device());
}

}  // namespace

at::Tensor undo_rescaling(const Components& components, const core::Path& path, std::string_view node,
                          std::string_view port, const at::Tensor& tensor) {
  at::Tensor values = tensor;
  for (const core::Undo& undo : path.undo) {
    if (undo.node != node || undo.port != port) continue;
    components.entering(undo.transform, "cannot undo its scaling", [&] {
      void* const ability = components.component(undo.transform).ability(Rescaled::kAbility);
      if (ability == nullptr) return;
      const std::optional<Rescaling> rescaling = static_cast<Rescaled*>(ability)->rescaling(undo.field);
      if (!rescaling) return;
      values = values.to(at::kDouble) * along_last_axis(rescaling->scale, values) +
               along_last_axis(rescaling->offset, values);
    });
  }
  return values;
}

}  // namespace tenon::engine
