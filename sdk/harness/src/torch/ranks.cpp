// Collectives of threads, by one meeting place.
#include <tenon/harness/ranks.hpp>

#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <tenon/error.hpp>

namespace tenon::harness {
namespace {

/// Where all ranks bring a tensor and take away all of them.
class Meeting {
 public:
  explicit Meeting(int64_t world) : brought_(static_cast<std::size_t>(world)) {}

  std::vector<at::Tensor> meet(int64_t rank, const at::Tensor& tensor) {
    std::unique_lock<std::mutex> lock(mutex_);
    require_whole();
    brought_[static_cast<std::size_t>(rank)] = tensor.detach().clone();
    const int64_t turn = turn_;
    if (++here_ == static_cast<int64_t>(brought_.size())) {
      taken_ = brought_;
      here_ = 0;
      ++turn_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&] { return turn_ != turn || broken_; });
      if (turn_ == turn) require_whole();
    }
    std::vector<at::Tensor> copies;
    for (const at::Tensor& each : taken_) copies.push_back(each.clone());
    return copies;
  }

  void break_up() {
    const std::lock_guard<std::mutex> lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }

 private:
  void require_whole() const {
    if (broken_) throw Error(ErrorCode::kDistributed, "another rank has failed");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<at::Tensor> brought_;
  std::vector<at::Tensor> taken_;
  int64_t here_ = 0;
  int64_t turn_ = 0;
  bool broken_ = false;
};

class Rank final : public Collectives {
 public:
  Rank(Meeting& meeting, int64_t rank, int64_t world) : meeting_(meeting), rank_(rank), world_(world) {}

  [[nodiscard]] int64_t rank() const noexcept override { return rank_; }
  [[nodiscard]] int64_t world() const noexcept override { return world_; }

  void all_reduce(at::Tensor& tensor, Op op) override {
    const c10::NoGradGuard no_grad;
    const std::vector<at::Tensor> all = meeting_.meet(rank_, tensor);
    at::Tensor combined = all.front();
    for (std::size_t i = 1; i < all.size(); ++i) {
      combined = op == Op::kSum   ? combined + all[i]
                 : op == Op::kMax ? at::maximum(combined, all[i])
                                  : at::minimum(combined, all[i]);
    }
    tensor.copy_(combined);
  }

  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    return meeting_.meet(rank_, tensor);
  }

  void broadcast(at::Tensor& tensor, int64_t root) override {
    const c10::NoGradGuard no_grad;
    tensor.copy_(meeting_.meet(rank_, tensor).at(static_cast<std::size_t>(root)));
  }

  void barrier() override { (void)meeting_.meet(rank_, at::zeros({})); }

 private:
  Meeting& meeting_;
  int64_t rank_;
  int64_t world_;
};

bool is_echo(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error.code() == ErrorCode::kDistributed && std::string_view(error.what()) == "another rank has failed";
  } catch (...) {
    return false;
  }
}

}  // namespace

void on_ranks(int64_t world, const std::function<void(Collectives& ranks)>& work) {
  Meeting meeting(world);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(world));
  {
    std::vector<std::jthread> threads;
    for (int64_t rank = 0; rank < world; ++rank) {
      threads.emplace_back([&, rank] {
        Rank ranks(meeting, rank, world);
        try {
          work(ranks);
        } catch (...) {
          failures[static_cast<std::size_t>(rank)] = std::current_exception();
          meeting.break_up();
        }
      });
    }
  }
  std::exception_ptr any;
  for (const std::exception_ptr& each : failures) {
    if (each && !is_echo(each)) std::rethrow_exception(each);
    if (each) any = each;
  }
  if (any) std::rethrow_exception(any);
}

std::vector<double> values_of(Metric& metric, const std::vector<Tensors>& batches) {
  const c10::NoGradGuard no_grad;
  OneRank alone;
  metric.reset();
  for (const Tensors& batch : batches) metric.update(batch);
  return metric.compute(alone);
}

std::vector<double> values_over_ranks(int64_t world, const std::function<Made<Metric>()>& make,
                                      const std::vector<Tensors>& batches) {
  std::vector<std::vector<double>> found(static_cast<std::size_t>(world));
  on_ranks(world, [&](Collectives& ranks) {
    const c10::NoGradGuard no_grad;
    const auto metric = make();
    metric->reset();
    for (auto i = static_cast<std::size_t>(ranks.rank()); i < batches.size(); i += static_cast<std::size_t>(world)) {
      metric->update(batches[i]);
    }
    found[static_cast<std::size_t>(ranks.rank())] = metric->compute(ranks);
  });
  for (const std::vector<double>& each : found) {
    const bool same = each.size() == found.front().size() &&
                      std::memcmp(each.data(), found.front().data(), each.size() * sizeof(double)) == 0;
    if (!same) throw Error(ErrorCode::kPlugin, "the ranks compute different values");
  }
  return found.front();
}

}  // namespace tenon::harness
