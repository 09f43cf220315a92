// The meeting of ranks.
#include <threads/meeting.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <tenon/error.hpp>

namespace tenon::distributed {
namespace {

/// Far below what the clock can count.
constexpr std::chrono::duration<double> kLongest = std::chrono::hours(24 * 365);

std::string seconds_text(std::chrono::steady_clock::duration time) {
  std::string text = std::to_string(std::chrono::duration<double>(time).count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

}  // namespace

Meeting::Meeting(int64_t world, std::chrono::duration<double> timeout)
    : world_(world),
      timeout_(std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::min(timeout, kLongest))),
      arrivals_(static_cast<std::size_t>(world)) {}

Meeting::Tensors Meeting::meet(int64_t rank, std::string call, const at::Tensor& tensor, const Combine& combine) {
  std::unique_lock<std::mutex> lock(mutex_);
  require_open();
  const int64_t number = calls_;
  arrivals_[static_cast<std::size_t>(rank)] = {true, std::move(call), tensor};
  if (++arrived_ == world_) {
    complete(combine);
  } else if (!changed_.wait_for(lock, timeout_, [&] { return failed_ || calls_ > number; })) {
    fail(missing(arrivals_[static_cast<std::size_t>(rank)].call));
  }
  if (calls_ == number) require_open();  // a call that was complete before the failure stands
  return result_;
}

void Meeting::complete(const Combine& combine) {
  if (const std::optional<std::string> problem = mismatch()) return fail(*problem);
  const std::string& call = arrivals_.front().call;
  try {
    const c10::NoGradGuard no_grad;
    Tensors brought;
    for (const Arrival& arrival : arrivals_) brought.push_back(arrival.tensor);
    result_ = combine(brought);
  } catch (const c10::Error& error) {
    return fail(call + " failed: " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    return fail(call + " failed: " + error.what());
  }
  last_call_ = call;
  for (Arrival& arrival : arrivals_) arrival = {};
  arrived_ = 0;
  ++calls_;
  changed_.notify_all();
}

void Meeting::abandon(std::string_view reason) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  try {
    fail(std::string(reason));
  } catch (...) {  // no memory for the reason: the others are woken all the same
    failed_ = true;
    changed_.notify_all();
  }
}

void Meeting::fail(std::string reason) {
  if (!failed_) reason_ = std::move(reason);
  failed_ = true;
  changed_.notify_all();
}

void Meeting::require_open() const {
  if (failed_) throw Error(ErrorCode::kDistributed, reason_);
}

std::optional<std::string> Meeting::mismatch() const {
  const Arrival& first = arrivals_.front();
  for (std::size_t rank = 1; rank < arrivals_.size(); ++rank) {
    if (arrivals_[rank].call == first.call) continue;
    return "rank 0 calls " + first.call + ", but rank " + std::to_string(rank) + " calls " + arrivals_[rank].call +
           ": all ranks must do the same in the same order";
  }
  return std::nullopt;
}

std::string Meeting::missing(const std::string& call) const {
  std::string ranks;
  int64_t count = 0;
  for (std::size_t rank = 0; rank < arrivals_.size(); ++rank) {
    if (arrivals_[rank].here) continue;
    ranks += (count++ == 0 ? "" : ", ") + std::to_string(rank);
  }
  return (count == 1 ? "rank " : "ranks ") + ranks + " did not come to " + call + " within " + seconds_text(timeout_) +
         (calls_ == 0 ? ", the first call of all"
                      : "; the last call of all ranks, number " + std::to_string(calls_) + ", was " + last_call_);
}

}  // namespace tenon::distributed
