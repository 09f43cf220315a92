// distributed:my_distributed: ranks that are threads of one process, and meet for every collective.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <tenon/components/distributed.hpp>
#include <tenon/registration.hpp>

namespace {

struct MyDistributedParams {
  int64_t ranks = 2;
  tenon::Time timeout{60};

  TENON_PARAMS(MyDistributedParams,
               tenon::field(&MyDistributedParams::ranks, "ranks", "Number of ranks, each a thread").min(1).max(16),
               tenon::field(&MyDistributedParams::timeout, "timeout",
                            "How long ranks wait for one that does not come before all of them fail"))
};

/// Where every rank brings a tensor and takes away copies of all of them. [any thread]
class MyDistributedMeeting {
 public:
  MyDistributedMeeting(int64_t world, double seconds)
      : timeout_(std::min(seconds, 1e6)), brought_(static_cast<std::size_t>(world)) {}

  [[nodiscard]] int64_t world() const noexcept { return static_cast<int64_t>(brought_.size()); }

  /// \throws Error (kDistributed) on every rank, once one of them did not come in time or has failed.
  std::vector<at::Tensor> exchange(int64_t rank, const at::Tensor& tensor) {
    const c10::NoGradGuard no_grad;
    std::unique_lock<std::mutex> lock(mutex_);
    if (failed_) throw tenon::Error(tenon::ErrorCode::kDistributed, reason_);
    brought_[static_cast<std::size_t>(rank)] = tensor.clone();
    const int64_t turn = turn_;
    if (++here_ == world()) {
      taken_ = brought_;
      here_ = 0;
      ++turn_;
      changed_.notify_all();
    } else if (!changed_.wait_for(lock, timeout_, [&] { return turn_ != turn || failed_; })) {
      fail("only " + std::to_string(here_) + " of " + std::to_string(world()) + " ranks came to a collective in time");
    }
    if (turn_ == turn) throw tenon::Error(tenon::ErrorCode::kDistributed, reason_);
    std::vector<at::Tensor> copies;
    for (const at::Tensor& each : taken_) copies.push_back(each.clone());
    return copies;
  }

  void abandon(std::string_view reason) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    fail(std::string(reason));
  }

 private:
  void fail(std::string reason) {
    if (!failed_) reason_ = std::move(reason);
    failed_ = true;
    changed_.notify_all();
  }

  const std::chrono::duration<double> timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<at::Tensor> brought_;
  std::vector<at::Tensor> taken_;  // no new turn ends before every rank has left with its copies of the last
  int64_t here_ = 0;
  int64_t turn_ = 0;
  bool failed_ = false;
  std::string reason_;
};

class MyDistributedRank final : public tenon::Collectives {
 public:
  MyDistributedRank(MyDistributedMeeting& meeting, int64_t rank) : meeting_(meeting), rank_(rank) {}

  [[nodiscard]] int64_t rank() const noexcept override { return rank_; }
  [[nodiscard]] int64_t world() const noexcept override { return meeting_.world(); }

  /// In order of rank, so that every rank gets the same bytes.
  void all_reduce(at::Tensor& tensor, Op op) override {
    const std::vector<at::Tensor> all = meeting_.exchange(rank_, tensor);
    at::Tensor result = all.front();
    for (std::size_t i = 1; i < all.size(); ++i) {
      switch (op) {
        case Op::kSum: result = result + all[i]; break;
        case Op::kMax: result = at::maximum(result, all[i]); break;
        case Op::kMin: result = at::minimum(result, all[i]); break;
      }
    }
    overwrite(tensor, result);
  }

  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    return meeting_.exchange(rank_, tensor);
  }

  void broadcast(at::Tensor& tensor, int64_t root) override {
    overwrite(tensor, meeting_.exchange(rank_, tensor).at(static_cast<std::size_t>(root)));
  }

  void barrier() override { (void)meeting_.exchange(rank_, at::zeros({})); }

 private:
  static void overwrite(at::Tensor& tensor, const at::Tensor& value) {
    const c10::NoGradGuard no_grad;
    tensor.copy_(value);
  }

  MyDistributedMeeting& meeting_;
  int64_t rank_;
};

class MyDistributed final : public tenon::Distributed, private tenon::InProcess {
 public:
  explicit MyDistributed(const MyDistributedParams& params) : meeting_(params.ranks, params.timeout.seconds) {
    if (params.timeout.seconds <= 0) {
      throw tenon::Error(tenon::ErrorCode::kConfig, "ranks need some time to meet: give \"60 s\"", "/timeout");
    }
    for (int64_t rank = 0; rank < params.ranks; ++rank) ranks_.emplace_back(meeting_, rank);
  }

  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<tenon::InProcess*>(this) : nullptr;
  }

  [[nodiscard]] tenon::Collectives& join() override {
    throw tenon::Error(tenon::ErrorCode::kDistributed, "the ranks are threads of one process: none can join them");
  }

 private:
  [[nodiscard]] int64_t ranks() const noexcept override { return meeting_.world(); }
  [[nodiscard]] tenon::Collectives& rank(int64_t index) override { return ranks_.at(static_cast<std::size_t>(index)); }
  void abandon(std::string_view reason) noexcept override { meeting_.abandon(reason); }

  MyDistributedMeeting meeting_;
  std::deque<MyDistributedRank> ranks_;
};

}  // namespace

TENON_COMPONENT(MyDistributed, MyDistributedParams, "my_distributed", "Ranks that are threads of one process")
