// Texts on a sheet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <opencv2/core.hpp>

namespace tenon::sheet {

/// A size of letters, pixels.
struct Lettering {
  int height = 9;  ///< Of capitals.
  bool bold = false;

  /// From one line's foot to the next.
  [[nodiscard]] int line() const noexcept { return height * 19 / 10; }
};

/// The text in the letters that can be drawn.
[[nodiscard]] std::string drawable(std::string_view utf8);

/// Width of a drawable text, pixels.
[[nodiscard]] int width_of(const std::string& text, const Lettering& lettering);

/// The text, or as much of its beginning as fits, with "..." behind.
[[nodiscard]] std::string fitted(std::string text, int width, const Lettering& lettering);

/// Lines of at most that width, broken at blanks where there are some.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, int width, const Lettering& lettering);

/// Draws a drawable text; `foot` is where its first letter stands on the line.
void write(cv::Mat& picture, const std::string& text, cv::Point foot, const Lettering& lettering,
           const cv::Scalar& colour);

}  // namespace tenon::sheet
