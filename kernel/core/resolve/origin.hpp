// Where a value of the merged pipeline comes from.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <core/text/source.hpp>

namespace tenon::core {

/// The layers of a pipeline in rising precedence.
enum class LayerKind { kDefault, kExtends, kFile, kOverlay, kSet };

/// The last writer of one value.
struct Origin {
  LayerKind kind = LayerKind::kDefault;
  Span key = {};              ///< The key; empty for array elements, the root and defaults.
  Span value = {};            ///< The value, or the "${vars.x}" that stands for it; empty for defaults.
  std::string variable = {};  ///< Name of the variable that gave the value; empty when none did.
  Span variable_value = {};   ///< What the variable gave, where it was written.
  std::string subject = {};   ///< For defaults: whose default it is, such as "optimizer:adamw".
  /// The folder from which a relative path in this value counts; null for defaults.
  std::shared_ptr<const std::filesystem::path> folder = {};

  /// "pipe.json:31:16", "vars.lr at pipe.json:5:30", "default of optimizer:adamw", "--set nodes.opt.with.lr=…".
  [[nodiscard]] std::string describe() const;
};

}  // namespace tenon::core
