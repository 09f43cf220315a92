// Rows go straight into the memory of the sample, unless they must be turned, widened or come from CMYK.
#include <decode/jpeg.hpp>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>

#include <jpeglib.h>
// Behind jpeglib.h: names of the library's messages.
#include <jerror.h>

#include <decode/pixels.hpp>
#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

/// The library's errors leave it by a jump: no C++ exception passes through C.
struct Failure {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  int code;
  std::array<char, JMSG_LENGTH_MAX> text;
};

void give_up(j_common_ptr common) {
  auto* const failure = reinterpret_cast<Failure*>(common->err);
  failure->code = common->err->msg_code;
  common->err->format_message(common, failure->text.data());
  std::longjmp(failure->back, 1);
}

/// Of what the library would only warn of, pixels that are lost are an error.
void judge(j_common_ptr common, int level) {
  if (level >= 0) return;
  switch (common->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC: give_up(common); break;
    default: break;
  }
}

void say_nothing(j_common_ptr /*common*/) {}

/// Decompressor of a thread, used image by image.
class JpegDecoder {
 public:
  JpegDecoder() {
    info_.err = jpeg_std_error(&failure_.manager);
    failure_.manager.error_exit = give_up;
    failure_.manager.emit_message = judge;
    failure_.manager.output_message = say_nothing;
    guarded([&] { jpeg_create_decompress(&info_); });
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() { jpeg_destroy_decompress(&info_); }

  void decode(Bytes file, const DecodeOptions& options, const Choose* choose, const Allocate& allocate);

 private:
  /// Whatever ends the image, the decompressor is free for the next one.
  struct Cleanup {
    JpegDecoder& decoder;
    explicit Cleanup(JpegDecoder& owner) : decoder(owner) {}
    Cleanup(const Cleanup&) = delete;
    Cleanup& operator=(const Cleanup&) = delete;
    ~Cleanup() {
      jpeg_abort_decompress(&decoder.info_);
      decoder.pixels_.settle();
    }
  };

  /// Calls into the library. No object with a destructor may be made within `calls`.
  template <class F>
  void guarded(F&& calls) {
    if (setjmp(failure_.back) != 0) fail();
    calls();
  }

  [[noreturn]] void fail() const;
  void read_header(Bytes file);
  void read_region(const Region& region, std::byte* to);
  void read_rows(const Region& region, std::byte* to, std::size_t skipped_bytes);

  jpeg_decompress_struct info_{};
  bool has_header_ = false;  // of the image that is being decoded: what info_ says of its size holds
  Failure failure_{};
  Scratch pixels_;
  Scratch rows_;
};

void JpegDecoder::fail() const {
  const std::string pixels = std::to_string(info_.image_width) + " x " + std::to_string(info_.image_height) + " pixels";
  if (failure_.code == JERR_OUT_OF_MEMORY) {
    throw Error(ErrorCode::kMemory, "not enough memory to decode " + (has_header_ ? pixels : "its JPEG header"));
  }
  std::string why;
  switch (failure_.code) {
    case JWRN_JPEG_EOF:
    case JERR_INPUT_EOF:
    case JERR_INPUT_EMPTY:
      why = "is cut off: the JPEG data ends before " + (has_header_ ? "the last of its " + pixels : "its header does");
      break;
    case JERR_BAD_PRECISION:
      why = "is JPEG of " + std::to_string(info_.data_precision) +
            " bits a channel, which is not read: convert it to 8, or to PNG or TIFF of 16";
      break;
    case JERR_SOF_UNSUPPORTED: why = "is lossless or hierarchical JPEG, which is not read: convert it"; break;
    default: why = std::string("is damaged: libjpeg says \"") + failure_.text.data() + "\""; break;
  }
  throw Error(ErrorCode::kData, why);
}

void JpegDecoder::read_header(Bytes file) {
  has_header_ = false;
  guarded([&] {
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    (void)jpeg_read_header(&info_, TRUE);
  });
  has_header_ = true;
  // A block of 8 x 8 values takes a bit at least, so a damaged size is told before memory is taken for it.
  constexpr uint64_t kMostPixelsPerByte = 64 * 8 * 8;
  const uint64_t pixels = uint64_t{info_.image_width} * info_.image_height;
  if (info_.arith_code == FALSE && pixels / kMostPixelsPerByte > file.size()) {
    throw Error(ErrorCode::kData, "is cut off or damaged: its header tells " + std::to_string(info_.image_width) +
                                      " x " + std::to_string(info_.image_height) + " pixels, too many for " +
                                      std::to_string(file.size()) + " bytes");
  }
}

/// Some columns more than wanted are decoded on either side, since smooth upsampling of chroma looks at neighbours.
void JpegDecoder::read_region(const Region& region, std::byte* to) {
  guarded([&] { (void)jpeg_start_decompress(&info_); });
  const auto block = static_cast<JDIMENSION>(info_.max_h_samp_factor * DCTSIZE);
  const auto left = static_cast<JDIMENSION>(region.left);
  const auto right = static_cast<JDIMENSION>(region.left + region.width);
  JDIMENSION begin = left / block > 0 ? (left / block - 1) * block : 0;
  const JDIMENSION end = std::min((right + block - 1) / block * block + block, info_.output_width);
  if (begin > 0 || end < info_.output_width) {
    JDIMENSION width = end - begin;
    guarded([&] { jpeg_crop_scanline(&info_, &begin, &width); });
  }
  const auto top = static_cast<JDIMENSION>(region.top);
  if (top > 0) guarded([&] { (void)jpeg_skip_scanlines(&info_, top); });
  read_rows(region, to, static_cast<std::size_t>(left - begin) * static_cast<std::size_t>(info_.output_components));
}

void JpegDecoder::read_rows(const Region& region, std::byte* to, std::size_t skipped_bytes) {
  const auto height = static_cast<JDIMENSION>(region.height);
  const auto channels = static_cast<std::size_t>(info_.output_components);
  const std::size_t wanted = static_cast<std::size_t>(region.width) * channels;
  const std::size_t decoded = static_cast<std::size_t>(info_.output_width) * channels;
  const bool direct = wanted == decoded;
  std::byte* const between = direct ? nullptr : rows_.take(decoded);
  guarded([&] {
    std::array<JSAMPROW, 4> rows{};
    for (JDIMENSION row = 0; row < height;) {
      std::byte* const place = to + row * wanted;
      if (!direct) {
        rows[0] = reinterpret_cast<JSAMPROW>(between);
        row += jpeg_read_scanlines(&info_, rows.data(), 1);
        std::memcpy(place, between + skipped_bytes, wanted);
        continue;
      }
      const JDIMENSION count = std::min<JDIMENSION>(static_cast<JDIMENSION>(rows.size()), height - row);
      for (JDIMENSION i = 0; i < count; ++i) rows[i] = reinterpret_cast<JSAMPROW>(place + i * wanted);
      row += jpeg_read_scanlines(&info_, rows.data(), count);
    }
  });
}

/// Inverted CMYK, as Adobe writes it, to RGB in place, by Pillow's formula.
void cmyk_to_rgb(std::byte* values, std::size_t pixels) noexcept {
  const auto product = [](unsigned a, unsigned b) {
    const unsigned scaled = a * b + 128;
    return ((scaled >> 8U) + scaled) >> 8U;  // a · b / 255, rounded
  };
  auto* const bytes = reinterpret_cast<uint8_t*>(values);
  for (std::size_t i = 0; i < pixels; ++i) {
    const uint8_t* const from = bytes + 4 * i;
    const unsigned light = from[3];
    std::array<uint8_t, 3> colours{};
    for (std::size_t c = 0; c < 3; ++c) {
      colours[c] = static_cast<uint8_t>(light - product(255U - from[c], light));
    }
    std::copy(colours.begin(), colours.end(), bytes + 3 * i);
  }
}

void JpegDecoder::decode(Bytes file, const DecodeOptions& options, const Choose* choose, const Allocate& allocate) {
  const Cleanup cleanup(*this);
  read_header(file);
  const bool cmyk = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
  if (!cmyk && info_.num_components != 1 && info_.num_components != 3) {
    throw Error(ErrorCode::kData, "is JPEG of " + std::to_string(info_.num_components) +
                                      " channels, but 1 (grey), 3 (colours) and 4 (CMYK) are read");
  }
  if (cmyk) {
    info_.out_color_space = JCS_CMYK;
  } else if (options.color == Color::kGrey) {
    info_.out_color_space = JCS_GRAYSCALE;
  } else {
    info_.out_color_space = options.color == Color::kRgb ? JCS_RGB : JCS_EXT_RGBA;
  }
  info_.dct_method = JDCT_ISLOW;
  info_.do_fancy_upsampling = TRUE;

  const Extent stored{info_.image_height, info_.image_width};
  const Turn turn = options.orientation == Orientation::kApply ? jpeg_header(file).turn : Turn();
  const Extent whole = turned(stored, turn);
  const Region region = choose != nullptr ? (*choose)(whole) : Region{0, 0, whole.height, whole.width};
  require_within(region, whole);
  const std::array<int64_t, 3> shape{region.height, region.width, channels(options.color)};
  void* const to = allocate(dtype(options), shape);

  const Region part = stored_region(region, stored, turn);
  if (!cmyk && options.bits == 8 && turn == Turn()) {
    read_region(part, static_cast<std::byte*>(to));
    return;
  }
  const auto pixels = static_cast<std::size_t>(part.height * part.width);
  const int decoded = cmyk ? 4 : static_cast<int>(channels(options.color));
  std::byte* const between = pixels_.take(pixels * static_cast<std::size_t>(decoded));
  read_region(part, between);
  if (cmyk) cmyk_to_rgb(between, pixels);
  Pixels found;
  found.data = between;
  found.channels = cmyk ? 3 : decoded;
  found.row_values = static_cast<std::size_t>(part.width * found.channels);
  found.extent = {part.height, part.width};
  deliver(found, turn, {0, 0, region.height, region.width}, options, to);
}

}  // namespace

void decode_jpeg(Bytes file, const DecodeOptions& options, const Choose* choose, const Allocate& allocate) {
  thread_local JpegDecoder decoder;
  decoder.decode(file, options, choose, allocate);
}

}  // namespace tenon::image_datasets
