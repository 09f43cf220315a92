// What the machine can do at best: libjpeg-turbo and memcpy, called directly.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <jpeglib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocks.hpp>
#include <contender.hpp>

namespace tenon::bench {
namespace {

namespace fs = std::filesystem;

/// Ends the program: no exception may pass through libjpeg's frames, nor leave a thread.
[[noreturn]] void give_up(const char* what, const char* why) {
  (void)std::fprintf(stderr, "%s: %s\n", what, why);
  std::_Exit(1);
}

[[noreturn]] void fail(j_common_ptr info) {
  char why[JMSG_LENGTH_MAX];
  info->err->format_message(info, why);
  give_up("a JPEG of the benchmark cannot be decoded", why);
}

/// Reads files and decodes them, one after the other, in memory that it keeps.
class Decoder {
 public:
  Decoder() {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = fail;
    jpeg_create_decompress(&info_);
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Decodes at a scale of 1/`divisor`; returns the number of bytes.
  std::size_t decode(const fs::path& path, unsigned divisor) {
    const std::size_t size = read(path);
    jpeg_mem_src(&info_, encoded_.data(), size);
    (void)jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    info_.scale_num = 1;
    info_.scale_denom = divisor;
    (void)jpeg_start_decompress(&info_);
    const std::size_t row = std::size_t{3} * info_.output_width;
    const std::size_t bytes = row * info_.output_height;
    if (pixels_.size() < bytes) pixels_.resize(bytes);
    while (info_.output_scanline < info_.output_height) {
      unsigned char* line = pixels_.data() + row * info_.output_scanline;
      (void)jpeg_read_scanlines(&info_, &line, 1);
    }
    (void)jpeg_finish_decompress(&info_);
    return bytes;
  }

 private:
  /// Puts a whole file into `encoded_`; returns its size.
  std::size_t read(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat found {};
    if (file < 0 || ::fstat(file, &found) != 0) give_up(path.c_str(), "it cannot be opened");
    const auto size = static_cast<std::size_t>(found.st_size);
    if (encoded_.size() < size) encoded_.resize(size);
    if (::read(file, encoded_.data(), size) != found.st_size) give_up(path.c_str(), "it cannot be read");
    (void)::close(file);
    return size;
  }

  jpeg_error_mgr errors_{};
  jpeg_decompress_struct info_{};
  std::vector<unsigned char> encoded_;
  std::vector<unsigned char> pixels_;
};

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
      Decoder decoder;
      for (std::size_t i = next++; i < files_.size(); i = next++) bytes += decoder.decode(files_[i], divisor_);
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
