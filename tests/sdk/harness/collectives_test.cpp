// Distributed backends in the harness: a sound one passes, and each mistake is told.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <tenon/harness/collectives.hpp>
#include <tenon/harness/gtest.hpp>

namespace tenon::harness {
namespace {

enum class Mistake {
  kNone,
  kRankZero,
  kMaxAsSum,
  kOutOfPlace,
  kOwnBytes,
  kLosesNan,
  kReversed,
  kShares,
  kLateRoot,
  kSilent
};

/// Ranks that are threads, with one mistake.
class Team final : public Distributed, private InProcess {
 public:
  explicit Team(int64_t world, Mistake mistake = Mistake::kNone)
      : mistake_(mistake), brought_(static_cast<std::size_t>(world)) {
    for (int64_t rank = 0; rank < world; ++rank) ranks_.emplace_back(*this, rank);
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<InProcess*>(this) : nullptr;
  }
  [[nodiscard]] Collectives& join() override { throw std::logic_error("there is nobody to join"); }

 private:
  class Rank final : public Collectives {
   public:
    Rank(Team& team, int64_t rank) : team_(team), rank_(rank) {}
    [[nodiscard]] int64_t rank() const noexcept override { return team_.is(Mistake::kRankZero) ? 0 : rank_; }
    [[nodiscard]] int64_t world() const noexcept override { return static_cast<int64_t>(team_.brought_.size()); }

    void all_reduce(at::Tensor& tensor, Op op) override {
      std::vector<at::Tensor> all = team_.meet(rank_, tensor.clone());
      if (team_.is(Mistake::kOwnBytes)) std::swap(all.front(), all[static_cast<std::size_t>(rank_)]);
      at::Tensor total = all.front();
      for (std::size_t i = 1; i < all.size(); ++i) {
        if (op == Op::kSum) total = total + all[i];
        if (op == Op::kMax) total = team_.is(Mistake::kMaxAsSum) ? total + all[i] : at::maximum(total, all[i]);
        if (op == Op::kMin) total = team_.is(Mistake::kLosesNan) ? at::fmin(total, all[i]) : at::minimum(total, all[i]);
      }
      if (team_.is(Mistake::kOutOfPlace)) {
        tensor = total.clone();
      } else {
        tensor.copy_(total);
      }
    }
    [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
      std::vector<at::Tensor> all = team_.meet(rank_, tensor.clone());
      if (team_.is(Mistake::kReversed)) return {all.rbegin(), all.rend()};
      if (team_.is(Mistake::kShares)) return all;
      for (at::Tensor& each : all) each = each.clone();
      return all;
    }
    void broadcast(at::Tensor& tensor, int64_t root) override {
      const at::Tensor mine = team_.is(Mistake::kLateRoot) ? tensor : tensor.clone();
      const at::Tensor theirs = team_.meet(rank_, mine).at(static_cast<std::size_t>(root));
      if (team_.is(Mistake::kLateRoot) && rank_ != root) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (rank_ != root) tensor.copy_(theirs);
    }
    void barrier() override { (void)team_.meet(rank_, at::zeros({})); }

   private:
    Team& team_;
    int64_t rank_;
  };

  [[nodiscard]] bool is(Mistake mistake) const noexcept { return mistake_ == mistake; }

  std::vector<at::Tensor> meet(int64_t rank, const at::Tensor& tensor) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!failure_.empty() && !is(Mistake::kSilent)) throw Error(ErrorCode::kDistributed, failure_);
    brought_[static_cast<std::size_t>(rank)] = tensor;
    const int64_t turn = turn_;
    if (++here_ == static_cast<int64_t>(brought_.size())) {
      taken_ = brought_;
      here_ = 0;
      ++turn_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return turn_ != turn || !failure_.empty(); });
    if (turn_ == turn && !is(Mistake::kSilent)) throw Error(ErrorCode::kDistributed, failure_);
    return taken_;
  }

  [[nodiscard]] int64_t ranks() const noexcept override { return static_cast<int64_t>(ranks_.size()); }
  [[nodiscard]] Collectives& rank(int64_t index) override { return ranks_[static_cast<std::size_t>(index)]; }
  void abandon(std::string_view reason) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.empty()) failure_ = reason;
    changed_.notify_all();
  }

  Mistake mistake_;
  std::deque<Rank> ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<at::Tensor> brought_;
  std::vector<at::Tensor> taken_;
  int64_t here_ = 0;
  int64_t turn_ = 0;
  std::string failure_;
};

class Alone final : public Distributed {
 public:
  [[nodiscard]] Collectives& join() override {
    ++joined;
    return one_;
  }
  int joined = 0;

 private:
  OneRank one_;
};

std::string all_of(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& each : sentences) text += each + "\n";
  return text;
}

TEST(HarnessCollectives, ASoundBackendHasNoFaults) {
  for (const int64_t world : {1, 2, 3}) {
    Team team(world);
    EXPECT_EQ(all_of(collective_faults(team)), "");
    EXPECT_EQ(all_of(abandon_faults(team)), "");
  }
  Alone alone;
  EXPECT_EQ(all_of(collective_faults(alone)), "");
  EXPECT_EQ(alone.joined, 1);
  EXPECT_EQ(all_of(abandon_faults(alone)), "");
}

TEST(HarnessCollectives, TellEachMistake) {
  const std::vector<std::pair<Mistake, std::string>> mistakes{
      {Mistake::kRankZero, "rank 0: this is what rank(1) of 3 calls itself"},
      {Mistake::kMaxAsSum, "rank 2: all_reduce(max) of int64[2, 3] gives a wrong result"},
      {Mistake::kOutOfPlace, "all_reduce(sum) of float32[2, 3] does not write in place"},
      {Mistake::kOwnBytes, "all_reduce(sum) does not give the same bytes as on another rank"},
      {Mistake::kLosesNan, "rank 0: all_reduce(min) loses another rank's NaN"},
      {Mistake::kReversed, "all_gather does not give every rank's tensor, in order of rank"},
      {Mistake::kShares, "all_gather gives memory that another rank or the caller's own tensor shares"},
      {Mistake::kLateRoot, "broadcast from rank 0 gives a wrong tensor"},
  };
  for (const auto& [mistake, sentence] : mistakes) {
    Team team(3, mistake);
    EXPECT_NE(all_of(collective_faults(team)).find(sentence), std::string::npos) << sentence;
  }
}

TEST(HarnessCollectives, TellABackendThatIsNotAbandoned) {
  Team team(2, Mistake::kSilent);
  const std::string text = all_of(abandon_faults(team));
  EXPECT_NE(text.find("rank 1: a barrier that waits while the ranks are abandoned does not throw"), std::string::npos)
      << text;
  EXPECT_NE(text.find("rank 0: a barrier behind abandon() does not throw"), std::string::npos) << text;
}

TEST(HarnessCollectives, ARankThatThrowsEndsTheOthersAndIsTheOneThatIsHeard) {
  Team team(3);
  const auto fails = [&] {
    on_ranks(team, [](Collectives& ranks) {
      if (ranks.rank() == 1) throw Error(ErrorCode::kData, "rank 1 has no data");
      ranks.barrier();
    });
  };
  EXPECT_TRUE(refused(fails, ErrorCode::kData, "", "rank 1"));
}

}  // namespace
}  // namespace tenon::harness
