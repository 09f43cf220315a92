// OpenCV behind one door: its threads are off, its exceptions become ours.
#pragma once

#include <string>
#include <utility>

#include <opencv2/core.hpp>

#include <support/view.hpp>
#include <tenon/error.hpp>

namespace tenon::image_transforms {

/// Switches OpenCV's own threads off, for good: samples are what runs side by side. Once a process. [any thread]
void quiet_opencv();

/// OpenCV's word for a view. It is never written through one of constant bytes.
[[nodiscard]] inline cv::Mat mat(const View& view) {
  return {static_cast<int>(view.height), static_cast<int>(view.width), CV_8UC(static_cast<int>(view.channels)),
          const_cast<uint8_t*>(view.data), static_cast<std::size_t>(view.stride)};
}

[[nodiscard]] inline cv::Mat mat(const View16& view) {
  return {static_cast<int>(view.height), static_cast<int>(view.width), CV_32SC(static_cast<int>(view.channels)),
          const_cast<int32_t*>(view.data), static_cast<std::size_t>(view.stride) * sizeof(int32_t)};
}

/// Calls what calls OpenCV. \throws Error instead of cv::Exception: kMemory where it gets no memory, else kData.
template <class Call>
void with_opencv(Call&& call) {
  quiet_opencv();
  try {
    std::forward<Call>(call)();
  } catch (const cv::Exception& error) {
    throw Error(error.code == cv::Error::StsNoMem ? ErrorCode::kMemory : ErrorCode::kData,
                "OpenCV cannot do this: " + error.err);
  }
}

}  // namespace tenon::image_transforms
