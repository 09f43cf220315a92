// libtiff has two handlers of errors for the whole process: OpenCV takes the plain one, this the extended one.
#include <decode/tiff_errors.hpp>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include <tiffio.h>

namespace tenon::image_datasets {
namespace {

struct Heard {
  bool listening = false;
  std::array<char, 256> first{};
};
thread_local Heard heard;

/// No exception passes through C, so the words have memory already. Those of other users of libtiff are left alone.
void hear(thandle_t /*file*/, const char* /*module*/, const char* format, std::va_list arguments) {
  if (!heard.listening || heard.first[0] != '\0') return;
  (void)std::vsnprintf(heard.first.data(), heard.first.size(), format, arguments);
}

}  // namespace

TiffErrors::TiffErrors() {
  static std::once_flag once;
  std::call_once(once, [] { TIFFSetErrorHandlerExt(hear); });
  heard.first[0] = '\0';
  heard.listening = true;
}

TiffErrors::~TiffErrors() { heard.listening = false; }

std::string_view TiffErrors::first() const noexcept { return heard.first.data(); }

}  // namespace tenon::image_datasets
