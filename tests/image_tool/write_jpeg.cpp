// Errors of libjpeg end the program, as its own error manager has it.
#include <image_tool/write_jpeg.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace tenon::test {
namespace {

/// Edges, slopes and noise in every channel, so that neighbours differ.
std::vector<uint8_t> pixels(std::size_t width, std::size_t height, std::size_t channels) {
  std::vector<uint8_t> values;
  uint32_t noise = 12345;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < channels; ++c) {
        noise = noise * 1664525U + 1013904223U;
        const std::size_t slope = (x * (3 + 2 * c) + y * (7 - c)) % 256;
        const std::size_t block = (x / 5 + y / 3 + c) % 2 * 90;
        values.push_back(static_cast<uint8_t>((slope + block + (noise >> 27U)) % 256));
      }
    }
  }
  return values;
}

}  // namespace

void write_jpeg(const std::filesystem::path& file, const nlohmann::json& kind) {
  std::FILE* const out = std::fopen(file.c_str(), "wb");
  if (out == nullptr) std::abort();
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  jpeg_stdio_dest(&info, out);

  const std::string space = kind.value("space", "ycc");
  info.image_width = kind.at("width").get<JDIMENSION>();
  info.image_height = kind.at("height").get<JDIMENSION>();
  info.input_components = space == "grey" ? 1 : (space == "cmyk" || space == "ycck" ? 4 : 3);
  info.in_color_space = info.input_components == 1 ? JCS_GRAYSCALE : (info.input_components == 4 ? JCS_CMYK : JCS_RGB);
  jpeg_set_defaults(&info);
  if (space == "rgb") jpeg_set_colorspace(&info, JCS_RGB);
  if (space == "ycck") jpeg_set_colorspace(&info, JCS_YCCK);
  jpeg_set_quality(&info, kind.value("quality", 90), TRUE);
  info.restart_interval = kind.value("restart", 0U);
  info.arith_code = kind.value("arithmetic", false) ? TRUE : FALSE;
  const auto sampling = kind.value("sampling", std::vector<std::vector<int>>());
  for (std::size_t c = 0; c < sampling.size(); ++c) {
    info.comp_info[c].h_samp_factor = sampling[c].at(0);
    info.comp_info[c].v_samp_factor = sampling[c].at(1);
  }
  if (kind.value("progressive", false)) jpeg_simple_progression(&info);

  jpeg_start_compress(&info, TRUE);
  const auto channels = static_cast<std::size_t>(info.input_components);
  std::vector<uint8_t> values = pixels(info.image_width, info.image_height, channels);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = values.data() + info.next_scanline * info.image_width * channels;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  if (std::fclose(out) != 0) std::abort();
}

}  // namespace tenon::test
