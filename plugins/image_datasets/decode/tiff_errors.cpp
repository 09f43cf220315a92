// libtiff has two handlers of errors for the whole process: OpenCV takes the plain one, this the extended one.
#include <decode/tiff_errors.hpp>

#include <array>
#include <atomic>
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

/// What the process has besides.
struct Others {
  std::mutex mutex;
  int listening = 0;  // threads
  std::atomic<TIFFErrorHandlerExt> handler{nullptr};
};
Others others;

/// No exception passes through C, so the words have memory already.
void hear(thandle_t file, const char* module, const char* format, std::va_list arguments) {
  if (heard.listening) {
    if (heard.first[0] == '\0') (void)std::vsnprintf(heard.first.data(), heard.first.size(), format, arguments);
    return;
  }
  // One that was set behind this one may hand on to it.
  thread_local bool handing_on = false;
  const TIFFErrorHandlerExt handler = others.handler;
  if (handler == nullptr || handing_on) return;
  handing_on = true;
  handler(file, module, format, arguments);
  handing_on = false;
}

/// Sets this handler, and keeps the one that was there.
void take_over() {
  const TIFFErrorHandlerExt before = TIFFSetErrorHandlerExt(hear);
  if (before != hear) others.handler = before;
}

}  // namespace

TiffErrors::TiffErrors() {
  {
    const std::lock_guard lock(others.mutex);
    ++others.listening;
    take_over();
  }
  heard.first[0] = '\0';
  heard.listening = true;
}

TiffErrors::~TiffErrors() {
  heard.listening = false;
  const std::lock_guard lock(others.mutex);
  if (--others.listening > 0) return;
  take_over();  // another one may have been set meanwhile
  TIFFSetErrorHandlerExt(others.handler);
}

std::string_view TiffErrors::first() const noexcept { return heard.first.data(); }

}  // namespace tenon::image_datasets
