// What libtiff finds wrong while OpenCV decodes, which itself passes over it.
#pragma once

#include <string_view>

namespace tenon::image_datasets {

/// While it lives, errors that libtiff tells on this thread are kept; warnings are not. One at a time on a thread. The
/// handler of errors that the process had gets those of other threads, and has its place again when no thread listens.
class TiffErrors {
 public:
  TiffErrors();
  TiffErrors(const TiffErrors&) = delete;
  TiffErrors& operator=(const TiffErrors&) = delete;
  ~TiffErrors();

  /// Its words for the first of them; empty where there was none. Valid until the object ends.
  [[nodiscard]] std::string_view first() const noexcept;
};

}  // namespace tenon::image_datasets
