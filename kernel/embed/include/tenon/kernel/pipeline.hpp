// A pipeline that was read and checked.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tenon/kernel/error.hpp>
#include <tenon/kernel/export.hpp>

namespace tenon::kernel {

/// What changes a pipeline on its way in, as the options of `tenon run` of these names do.
struct PipelineOptions {
  std::optional<std::string> text = {};              ///< Stands for the content of the file, which is not read then.
  std::vector<std::filesystem::path> overlays = {};  ///< In order.
  std::vector<std::string> sets = {};                ///< In order: "vars.lr=0.001", "+vars.x=1"; values are JSON.
  std::optional<std::filesystem::path> runs = {};    ///< Where run directories go: run.dir.
};

/// Immutable; copies share the content, which keeps the Runtime's components alive but not the Runtime. [any thread]
class TENON_KERNEL_API Pipeline {
 public:
  [[nodiscard]] const std::string& name() const noexcept;

  /// The whole pipeline with every default, as config.resolved.json of a run holds it: JSON.
  [[nodiscard]] std::string resolved() const;

  /// What the check had to say although nothing is wrong.
  [[nodiscard]] const std::vector<Diagnostic>& warnings() const noexcept;

  struct Content;
  explicit Pipeline(std::shared_ptr<const Content> content) noexcept;
  [[nodiscard]] const Content& content() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

}  // namespace tenon::kernel
