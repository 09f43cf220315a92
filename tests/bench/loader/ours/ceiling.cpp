// What the machine can do at best: libjpeg-turbo and memcpy, called directly.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <jpeglib.h>

#include <clocks.hpp>
#include <contender.hpp>

namespace tenon::bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(j_common_ptr /*info*/) { throw std::runtime_error("a JPEG of the benchmark cannot be decoded"); }

/// Decodes at a scale of 1/`divisor` into `pixels`; returns the number of bytes.
std::size_t decode(const std::vector<unsigned char>& encoded, unsigned divisor, std::vector<unsigned char>& pixels) {
  jpeg_error_mgr errors{};
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&errors);
  errors.error_exit = fail;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, encoded.data(), encoded.size());
  (void)jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = divisor;
  (void)jpeg_start_decompress(&info);
  const std::size_t row = std::size_t{3} * info.output_width;
  pixels.resize(std::max(pixels.size(), row * info.output_height));
  while (info.output_scanline < info.output_height) {
    unsigned char* line = pixels.data() + row * info.output_scanline;
    (void)jpeg_read_scanlines(&info, &line, 1);
  }
  const std::size_t bytes = row * info.output_height;
  (void)jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return bytes;
}

class Ceiling final : public Contender {
 public:
  explicit Ceiling(const Json& scenario)
      : threads_(scenario.value("threads", 1)), divisor_(scenario.value("divisor", 1U)) {
    for (const auto& entry : fs::recursive_directory_iterator(scenario.at("folder").get<std::string>())) {
      if (entry.path().extension() == ".jpg") files_.push_back(entry.path());
    }
    std::sort(files_.begin(), files_.end());
  }

  Json act(const Json& command) override {
    if (command.at("do").get<std::string>() == "copy") return copy();
    const double cpu = processor_seconds();
    const double begin = now();
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> bytes{0};
    const auto work = [&] {
      std::vector<unsigned char> pixels;
      for (std::size_t i = next++; i < files_.size(); i = next++) {
        std::ifstream file(files_[i], std::ios::binary);
        const std::vector<unsigned char> encoded(std::istreambuf_iterator<char>(file), {});
        bytes += decode(encoded, divisor_, pixels);
      }
    };
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(threads_));
    for (int i = 0; i < threads_; ++i) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    return {{"samples", files_.size()},
            {"wall", now() - begin},
            {"cpu", processor_seconds() - cpu},
            {"bytes", bytes.load()}};
  }

 private:
  /// Of blocks that fit into a processor's caches; bytes written a second.
  static Json copy() {
    constexpr std::size_t kBlock = std::size_t{6} << 20U;
    constexpr int kTimes = 400;
    std::vector<unsigned char> from(kBlock, 1);
    std::vector<unsigned char> to(kBlock, 2);
    const double cpu = processor_seconds();
    const double begin = now();
    unsigned sum = 0;
    for (int i = 0; i < kTimes; ++i) {
      from[static_cast<std::size_t>(i)] = static_cast<unsigned char>(i);
      std::memcpy(to.data(), from.data(), kBlock);
      sum += to[static_cast<std::size_t>(i)];
    }
    const double used = processor_seconds() - cpu;
    return {{"samples", kTimes},
            {"wall", now() - begin},
            {"cpu", used},
            {"touched", sum},
            {"bytes_a_second", static_cast<double>(kBlock) * kTimes / used}};
  }

  int threads_;
  unsigned divisor_;
  std::vector<fs::path> files_;
};

}  // namespace

std::unique_ptr<Contender> make_ceiling(const Json& scenario) { return std::make_unique<Ceiling>(scenario); }

}  // namespace tenon::bench
