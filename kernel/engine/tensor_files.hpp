// Named tensors in safetensors files.
#pragma once

#include <filesystem>

#include <tenon/tensors.hpp>

namespace tenon::engine {

/// \throws Error (kStorage).
void write_tensors(const std::filesystem::path& file, const Tensors& tensors);

/// The tensors own their memory. \throws Error (kCheckpoint).
[[nodiscard]] Tensors read_tensors(const std::filesystem::path& file);

}  // namespace tenon::engine
