// What metrics of masks take of memory while they look at a batch.
#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/metric.hpp>

namespace tenon::test {
namespace {

/// libtorch's allocator, with the sum of what is out, and its highest value.
class Counting final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    live += bytes;
    most = std::max(most, live);
    c10::DataPtr inner = c10::GetDefaultCPUAllocator()->allocate(bytes);
    void* const data = inner.get();
    return {data, new Piece{std::move(inner), bytes, this}, &free, c10::Device(c10::kCPU)};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  std::size_t live = 0;
  std::size_t most = 0;

 private:
  struct Piece {
    c10::DataPtr data;
    std::size_t bytes;
    Counting* counting;
  };

  static void free(void* context) {
    const std::unique_ptr<Piece> piece(static_cast<Piece*>(context));
    piece->counting->live -= piece->bytes;
  }
};

/// The most memory that tensors had at once, of those that `body` made.
template <class Body>
std::size_t most_while(const Body& body) {
  static Counting counting;  // as long as any tensor of it
  c10::Allocator* const before = c10::GetCPUAllocator();
  counting.most = counting.live = 0;
  c10::SetCPUAllocator(&counting);
  body();
  c10::SetCPUAllocator(before);
  return counting.most;
}

TEST(MetricsOfMasks, TakeNoComparisonOfEachPixelWithEachClassAtOnce) {
  constexpr int64_t kClasses = 150;
  constexpr int64_t kSide = 400;
  const at::TensorOptions longs(at::kLong);
  const at::Tensor mask = at::arange(kSide * kSide, longs).remainder(kClasses).view({1, kSide, kSide});
  const at::Tensor logits = at::zeros({1, kClasses, kSide, kSide}).scatter_(1, mask.unsqueeze(1), 1);
  for (const char* const name : {"iou", "confusion"}) {
    const auto metric = make<Metric>("tenon_metrics", name);
    const std::size_t most = most_while([&] {
      metric->update({{"logits", logits}, {"target", mask}});
      metric->reset();
    });
    EXPECT_LT(most, std::size_t{16} << 20) << name << ": a byte for each pixel and class is 24 MB";
    metric->update({{"logits", logits}, {"target", mask}});
    OneRank alone;
    EXPECT_EQ(metric->compute(alone).front(), 1) << name;
    metric->update({{"logits", logits}, {"target", (mask + 1).remainder(kClasses)}});
    EXPECT_NEAR(metric->compute(alone).front(), std::string(name) == "iou" ? 1.0 / 3 : 1.0 / 2, 1e-4) << name;
  }
}

}  // namespace
}  // namespace tenon::test
