// What parameters may say of images.
#include <decode/options.hpp>

#include <tenon/error.hpp>

namespace tenon::image_datasets {

void require_bits(int64_t bits) {
  if (bits == 8 || bits == 16) return;
  throw Error(ErrorCode::kConfig,
              std::to_string(bits) + " bits are not handed out: give 8, for uint8, or 16, for int32 from 0 to 65535",
              "/bits");
}

}  // namespace tenon::image_datasets
