// An exporter's file against the live model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tenon/components/exporter.hpp>

namespace tenon::harness {

/// Writes a built model in evaluation to `file`, opens it again, and compares the outputs for inputs of the batch sizes
/// that the exporter's verify() names, by the rule and bounds of `Verify`. `example` gives names, types and shapes of the
/// inputs, batch first; other batch sizes repeat and cut its rows. Gives what differs, one sentence each.
/// \throws Error as the exporter does.
[[nodiscard]] std::vector<std::string> export_differences(Exporter& exporter, Model& model, const Tensors& example,
                                                          const std::filesystem::path& file);

/// Rows of each tensor, repeated or cut to `batch`.
[[nodiscard]] Tensors with_batch(const Tensors& in, int64_t batch);

/// How `got` differs from `wanted` by the rule of `Verify`; empty where it agrees.
[[nodiscard]] std::string difference(const std::string& name, const at::Tensor& got, const at::Tensor& wanted,
                                     const Verify& verify);

}  // namespace tenon::harness
