// What is due by steps and by seconds since the run began.
#include <console/pace.hpp>

namespace tenon::observers {
namespace {

constexpr int64_t kShares = 120;  // of the planned steps
constexpr double kGrowth = 8;     // a line when the run is 1/8 older
constexpr int64_t kFirstRows = 40;
constexpr double kRedraw = 0.1;  // seconds

bool share_over(const Event& event, int64_t since) noexcept {
  return static_cast<double>(event.step - since) * kShares >= static_cast<double>(event.planned);
}

}  // namespace

bool Pace::line_due(const Event& event) const noexcept {
  if (!line_) return true;
  const double since = event.elapsed - line_->elapsed;
  return since >= interval_ && (since * kGrowth >= event.elapsed || share_over(event, line_->step));
}

bool Pace::row_due(const Event& event) const noexcept {
  return rows_ < kFirstRows || event.step >= event.planned || share_over(event, row_step_);
}

void Pace::rowed(const Event& event) noexcept {
  ++rows_;
  row_step_ = event.step;
  told(event);
}

bool Pace::draw_due(const Event& event) const noexcept { return !drawn_ || event.elapsed - *drawn_ >= kRedraw; }

}  // namespace tenon::observers
