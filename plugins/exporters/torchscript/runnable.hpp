// A TorchScript file that runs.
#pragma once

#include <filesystem>
#include <memory>

#include <tenon/components/exporter.hpp>

namespace tenon::exporters {

/// Loads a file that exporter:torchscript wrote, on the CPU.
/// \throws Error (kVerification) when it is damaged or was not written by it.
[[nodiscard]] std::unique_ptr<Runnable> open_torchscript(const std::filesystem::path& file);

/// Parameters and buffers of such a file by name. \throws Error (kVerification) when it is damaged.
[[nodiscard]] Tensors torchscript_tensors(const std::filesystem::path& file);

}  // namespace tenon::exporters
