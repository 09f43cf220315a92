// Leaves of a sample what a sheet or a table of samples shows.
#pragma once

#include <cstdint>
#include <vector>

#include <engine/data_show.hpp>

namespace tenon::host {

/// For DataShowRequest::reduce. An image that is much larger than its tile becomes smaller by a whole factor, each
/// pixel the mean of those that it stands for (of bytes, float32 and float64; else one of them), and with it its masks,
/// of which one pixel stays, and its boxes. Of all else the beginning stays, with the shape of the whole.
class SampleReduction {
 public:
  /// `tiles` is how many samples share a sheet.
  explicit SampleReduction(int64_t tiles);

  void operator()(const std::vector<engine::ShownField>& fields, engine::ShownSample& sample) const;

 private:
  int64_t side_;  // the most pixels of an image's longer side
};

}  // namespace tenon::host
