// Colours of a sheet.
#pragma once

#include <array>
#include <cstdint>

#include <opencv2/core.hpp>

namespace tenon::sheet {

/// As OpenCV has them: blue, green, red.
inline cv::Scalar rgb(double red, double green, double blue) { return {blue, green, red}; }

inline const cv::Scalar kPaper = rgb(247, 247, 248);
inline const cv::Scalar kInk = rgb(32, 34, 38);
inline const cv::Scalar kFaint = rgb(116, 120, 128);
inline const cv::Scalar kLine = rgb(214, 216, 221);
inline const cv::Scalar kBad = rgb(252, 233, 231);
inline const cv::Scalar kBadInk = rgb(176, 42, 32);

/// Of a class; classes far apart may share one. Tableau's ten colours, bright and dark in turn.
inline cv::Scalar class_colour(int64_t number) {
  static constexpr std::array<std::array<int, 3>, 10> kColours{{{78, 121, 167},
                                                                {242, 142, 43},
                                                                {89, 161, 79},
                                                                {225, 87, 89},
                                                                {176, 122, 161},
                                                                {237, 201, 72},
                                                                {118, 183, 178},
                                                                {255, 157, 167},
                                                                {156, 117, 95},
                                                                {121, 112, 110}}};
  const auto& colour = kColours[static_cast<std::size_t>((number % 10 + 10) % 10)];
  return rgb(colour[0], colour[1], colour[2]);
}

}  // namespace tenon::sheet
