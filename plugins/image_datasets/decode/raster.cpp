// OpenCV decodes without converting anything (IMREAD_UNCHANGED), and its exceptions end here.
#include <decode/raster.hpp>

#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

#include <decode/headers.hpp>
#include <decode/png.hpp>
#include <decode/portable.hpp>
#include <decode/tiff_errors.hpp>
#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

namespace logging = cv::utils::logging;

/// While one lives, OpenCV keeps to itself: threads belong to the loader, and what is wrong with a file is told by who
/// reads it. The text that imdecode itself writes to std::cerr where a decoder throws cannot be turned off: what is often
/// wrong is looked for before. The level of its words is that of the process again when nothing is decoded.
class Quiet {
 public:
  Quiet() {
    static std::once_flag once;
    std::call_once(once, [] { cv::setNumThreads(1); });
    const std::lock_guard lock(mutex);
    if (decoding++ == 0) level = logging::setLogLevel(logging::LOG_LEVEL_SILENT);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() {
    const std::lock_guard lock(mutex);
    if (--decoding > 0) return;
    const logging::LogLevel now = logging::setLogLevel(level);
    if (now != logging::LOG_LEVEL_SILENT) logging::setLogLevel(now);  // another one was set meanwhile
  }

 private:
  inline static std::mutex mutex;
  inline static int decoding = 0;
  inline static logging::LogLevel level = logging::LOG_LEVEL_SILENT;
};

std::string name_of(Format format) {
  switch (format) {
    case Format::kPng: return "PNG";
    case Format::kWebp: return "WebP";
    case Format::kBmp: return "BMP";
    case Format::kTiff: return "TIFF";
    default: return "JPEG 2000";
  }
}

Pixels pixels_of(const cv::Mat& image) {
  const int depth = image.depth();
  if (depth != CV_8U && depth != CV_16U) {
    throw Error(ErrorCode::kData, "holds numbers that are no pixels of 8 or 16 bits, such as float32: save it so");
  }
  Pixels pixels;
  pixels.data = image.data;
  pixels.wide = depth == CV_16U;
  pixels.row_values = image.step1(0);
  pixels.channels = image.channels();
  pixels.bgr = true;
  pixels.extent = {image.rows, image.cols};
  return pixels;
}

}  // namespace

void refuse_lossy(std::string_view kind) {
  throw Error(ErrorCode::kData,
              "is " + std::string(kind) + ", which keeps no exact class numbers: masks are PNG, TIFF or BMP");
}

std::optional<RasterHeader> raster_header(Bytes file, Format format) {
  switch (format) {
    case Format::kPng: {
      const PngHeader header = png_header(file, Checksums::kPassOver);
      return RasterHeader{header.stored, header.turn, header.depth};
    }
    case Format::kWebp: return webp_header(file);
    case Format::kBmp: return bmp_header(file);
    case Format::kTiff: return tiff_header(file);
    case Format::kPortable: return portable_header(file);
    default: return jpeg2000_header(file);
  }
}

Raster read_raster(Bytes file, Format format, bool indices) {
  if (format == Format::kPortable) return read_portable(file, indices);
  Raster raster;
  std::string other;
  if (format == Format::kPng) {
    const PngHeader header = png_header(file, Checksums::kCompare);
    raster.turn = header.turn;
    raster.depth = header.depth;
    if (indices && header.palette()) {
      other = with_indices_as_greys(file, header);
      raster.depth = 8;
    } else if (header.more) {
      other = with_pixels_alone(file, header);
    }
  } else if (const auto header = raster_header(file, format)) {
    raster.turn = header->turn;
    raster.depth = header->depth;
    if (indices && !header->lossy.empty()) refuse_lossy(header->lossy);
  }
  if (format == Format::kBmp && indices) other = bmp_with_indices_as_greys(file);
  if (format == Format::kTiff && indices) other = tiff_with_indices_as_greys(file);
  if (format == Format::kTiff && other.empty()) other = without_multiplied_alpha(file);
  if (!other.empty()) file = std::as_bytes(std::span(other));
  if (file.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(ErrorCode::kData, "has " + std::to_string(file.size()) + " bytes: images end at 2 GiB");
  }
  const auto image = std::make_shared<cv::Mat>();
  const Quiet quiet;
  std::optional<TiffErrors> errors;
  if (format == Format::kTiff) errors.emplace();
  try {
    const cv::Mat bytes(1, static_cast<int>(file.size()), CV_8U, const_cast<std::byte*>(file.data()));
    *image = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  } catch (const cv::Exception& error) {
    const bool memory = error.code == cv::Error::StsNoMem;
    throw Error(memory ? ErrorCode::kMemory : ErrorCode::kData,
                "cannot be decoded as " + name_of(format) + ": OpenCV says \"" + error.err + "\"");
  }
  const std::string why(errors ? errors->first() : std::string_view());
  if (image->empty()) {
    throw Error(ErrorCode::kData, "is cut off, damaged or of a kind of " + name_of(format) + " that is not read: " +
                                      (why.empty() ? "OpenCV cannot decode it" : "libtiff says \"" + why + "\""));
  }
  // OpenCV makes pixels of what cannot be decoded, and tells nothing.
  if (!why.empty()) throw Error(ErrorCode::kData, "is damaged: libtiff says \"" + why + "\"");
  raster.pixels = pixels_of(*image);
  raster.memory = image;
  return raster;
}

}  // namespace tenon::image_datasets
