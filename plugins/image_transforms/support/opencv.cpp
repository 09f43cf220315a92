// The settings of OpenCV that hold for the process.
#include <support/opencv.hpp>

namespace tenon::image_transforms {

void quiet_opencv() {
  static const bool quiet = [] {
    cv::setNumThreads(1);
    // What it throws is told once, by whoever catches it.
    cv::redirectError([](int, const char*, const char*, const char*, int, void*) { return 0; });
    return true;
  }();
  (void)quiet;
}

}  // namespace tenon::image_transforms
