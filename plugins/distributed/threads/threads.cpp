// distributed:threads: ranks that are threads of one process, for proofs that results do not depend on how many there
// are.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <tenon/components/distributed.hpp>
#include <tenon/registration.hpp>
#include <tenon/spec.hpp>
#include <tenon/tensors.hpp>
#include <threads/meeting.hpp>

namespace tenon::distributed {

struct ThreadsParams {
  int64_t ranks = 2;
  Time timeout{60};

  TENON_PARAMS(
      ThreadsParams,
      field(&ThreadsParams::ranks, "ranks", "Number of ranks, each a thread with a model of its own").min(1).max(16),
      field(&ThreadsParams::timeout, "timeout",
            "How long ranks wait for one that does not come before all of them fail"))
};

namespace {

std::string spelled(const at::Tensor& tensor) {
  FieldSpec field{"", dtype_of(tensor.scalar_type()), {}};
  for (const int64_t size : tensor.sizes()) field.shape.emplace_back(size);
  return to_string(field);
}

const char* spelled(Collectives::Op op) {
  switch (op) {
    case Collectives::Op::kSum: return "sum";
    case Collectives::Op::kMax: return "max";
    case Collectives::Op::kMin: return "min";
  }
  return "unknown";
}

at::Tensor combined(const at::Tensor& a, const at::Tensor& b, Collectives::Op op) {
  switch (op) {
    case Collectives::Op::kSum: return a.add(b);
    case Collectives::Op::kMax: return at::maximum(a, b);
    case Collectives::Op::kMin: return at::minimum(a, b);
  }
  return a;
}

void overwrite(at::Tensor& tensor, const at::Tensor& value) {
  const c10::NoGradGuard no_grad;
  tensor.copy_(value);
}

/// One rank's end of the meeting. Tensors of a GPU must be those of one stream, as the default one of all threads is.
class ThreadRank final : public Collectives {
 public:
  ThreadRank(Meeting& meeting, int64_t rank) : meeting_(meeting), rank_(rank) {}

  [[nodiscard]] int64_t rank() const noexcept override { return rank_; }
  [[nodiscard]] int64_t world() const noexcept override { return meeting_.world(); }

  /// In order of rank, so that the bytes do not depend on who comes last.
  void all_reduce(at::Tensor& tensor, Op op) override {
    const std::string call = std::string("all_reduce(") + spelled(op) + ") of " + spelled(tensor);
    const Meeting::Tensors result = meeting_.meet(rank_, call, tensor, [op](const Meeting::Tensors& all) {
      at::Tensor total = all.front().clone();
      for (std::size_t i = 1; i < all.size(); ++i) total = combined(total, all[i].to(total.device()), op);
      return Meeting::Tensors{total};
    });
    overwrite(tensor, result.front());
  }

  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    return copies(meeting_.meet(rank_, "all_gather of " + spelled(tensor), tensor, copies));
  }

  void broadcast(at::Tensor& tensor, int64_t root) override {
    if (root < 0 || root >= world()) {
      throw Error(ErrorCode::kDistributed, "broadcast from rank " + std::to_string(root) + ", but there are only " +
                                               std::to_string(world()) + " ranks");
    }
    const std::string call = "broadcast of " + spelled(tensor) + " from rank " + std::to_string(root);
    const Meeting::Tensors result = meeting_.meet(rank_, call, tensor, [root](const Meeting::Tensors& all) {
      return Meeting::Tensors{all[static_cast<std::size_t>(root)].clone()};
    });
    if (rank_ != root) overwrite(tensor, result.front());
  }

  void barrier() override {
    (void)meeting_.meet(rank_, "barrier", {}, [](const Meeting::Tensors& /*all*/) { return Meeting::Tensors(); });
  }

 private:
  /// Each rank may change its own tensor as soon as it is back.
  static Meeting::Tensors copies(const Meeting::Tensors& all) {
    const c10::NoGradGuard no_grad;
    Meeting::Tensors own;
    own.reserve(all.size());
    for (const at::Tensor& tensor : all) own.push_back(tensor.clone());
    return own;
  }

  Meeting& meeting_;
  int64_t rank_;
};

}  // namespace

class Threads final : public Distributed, private InProcess {
 public:
  explicit Threads(const ThreadsParams& params)
      : meeting_(params.ranks, std::chrono::duration<double>(params.timeout.seconds)) {
    if (params.timeout.seconds <= 0) {
      throw Error(ErrorCode::kConfig, "ranks need some time to meet: give a timeout above 0, such as \"60 s\"",
                  "/timeout");
    }
    for (int64_t i = 0; i < params.ranks; ++i) ranks_.push_back(std::make_unique<ThreadRank>(meeting_, i));
  }

  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<InProcess*>(this) : nullptr;
  }

  [[nodiscard]] Collectives& join() override {
    throw Error(ErrorCode::kDistributed, std::string("ranks of distributed:threads are threads that the engine starts, "
                                                     "and no process can join them: see the ability ") +
                                             kAbility);
  }

 private:
  [[nodiscard]] int64_t ranks() const noexcept override { return meeting_.world(); }

  [[nodiscard]] Collectives& rank(int64_t index) override {
    if (index < 0 || index >= meeting_.world()) {
      throw Error(ErrorCode::kDistributed, "there is no rank " + std::to_string(index) + ": there are " +
                                               std::to_string(meeting_.world()) + ", counted from 0");
    }
    return *ranks_[static_cast<std::size_t>(index)];
  }

  void abandon(std::string_view reason) noexcept override { meeting_.abandon(reason); }

  Meeting meeting_;
  std::vector<std::unique_ptr<ThreadRank>> ranks_;
};

TENON_COMPONENT(Threads, ThreadsParams, "threads", "Ranks that are threads of one process")

}  // namespace tenon::distributed
