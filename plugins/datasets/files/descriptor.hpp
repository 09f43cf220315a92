// A file that is open.
#pragma once

#include <unistd.h>

namespace tenon::datasets {

/// Closes it at the end of its life; a number below 0 is none.
struct Descriptor {
  int number;

  explicit Descriptor(int opened) noexcept : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace tenon::datasets
