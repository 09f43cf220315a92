// JPEG files for tests, by libjpeg itself.
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

namespace tenon::test {

/// Writes an image of gradients and noise. `kind`: width, height, space (grey, ycc, rgb, cmyk or ycck), sampling (a
/// [horizontal, vertical] factor a channel), quality, restart (MCUs between markers, 0 for none), progressive,
/// arithmetic.
void write_jpeg(const std::filesystem::path& file, const nlohmann::json& kind);

}  // namespace tenon::test
