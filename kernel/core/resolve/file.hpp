// Reads a text file of the pipeline, or says why it cannot be read.
#pragma once

#include <filesystem>

#include <core/text/diagnostic.hpp>
#include <core/text/source.hpp>

namespace tenon::core {

/// Largest text that is read as a pipeline.
inline constexpr std::size_t kMaxPipelineBytes = 16u << 20;

/// The file's content, under the name by which the user wrote it. Null after an error: missing-file (names of near
/// files in the folder are suggested), unreadable-file (folder, no permission, device, too large). `at` is the place
/// that names the file, where one does (an `extends`); it may be empty.
[[nodiscard]] SourcePtr read_source(const std::filesystem::path& path, const Span& at, Diagnostics& diagnostics);

}  // namespace tenon::core
