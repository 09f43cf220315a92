// Tensors whose combination is known, through the collectives of a backend.
#include <tenon/harness/collectives.hpp>

#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <tenon/error.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/tensors.hpp>

namespace tenon::harness {
namespace {

using Op = Collectives::Op;

/// Sentences of all ranks.
class Faults {
 public:
  void expect(const Collectives& ranks, bool holds, const std::string& what) {
    if (holds) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    sentences_.push_back("rank " + std::to_string(ranks.rank()) + ": " + what);
  }
  [[nodiscard]] bool empty() const { return sentences_.empty(); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(sentences_); }

 private:
  std::mutex mutex_;
  std::vector<std::string> sentences_;
};

/// What a rank brings: small whole numbers, so that sums are exact in any order.
at::Tensor numbers(int64_t rank, at::IntArrayRef shape, at::ScalarType type) {
  const at::Tensor flat = at::arange(c10::multiply_integers(shape), at::TensorOptions(type));
  return (flat * (rank % 2 == 0 ? 1 : -1) + 10 * rank + 1).view(shape);
}

at::Tensor combined(int64_t world, at::IntArrayRef shape, at::ScalarType type, Op op) {
  at::Tensor all = numbers(0, shape, type);
  for (int64_t rank = 1; rank < world; ++rank) {
    const at::Tensor more = numbers(rank, shape, type);
    all = op == Op::kSum ? all + more : op == Op::kMax ? at::maximum(all, more) : at::minimum(all, more);
  }
  return all;
}

const std::vector<std::pair<Op, std::string>>& ops() {
  static const std::vector<std::pair<Op, std::string>> all{{Op::kSum, "sum"}, {Op::kMax, "max"}, {Op::kMin, "min"}};
  return all;
}

void try_reduce(Collectives& ranks, at::IntArrayRef shape, at::ScalarType type, Faults& faults) {
  for (const auto& [op, name] : ops()) {
    const std::string what = "all_reduce(" + name + ") of " + std::string(name_of(dtype_of(type))) + c10::str(shape);
    at::Tensor tensor = numbers(ranks.rank(), shape, type);
    const void* const memory = tensor.const_data_ptr();
    ranks.all_reduce(tensor, op);
    faults.expect(ranks, at::equal(tensor, combined(ranks.world(), shape, type, op)), what + " gives a wrong result");
    faults.expect(ranks, tensor.const_data_ptr() == memory, what + " does not write in place");
  }
}

void try_view(Collectives& ranks, Faults& faults) {
  const at::Tensor whole = at::zeros({3, 4}, at::TensorOptions(at::kFloat));
  at::Tensor column = whole.select(1, 2);
  column.fill_(1);
  ranks.all_reduce(column, Op::kSum);
  const bool right = whole.select(1, 2).eq(static_cast<double>(ranks.world())).all().item<bool>() &&
                     whole.sum().item<double>() == 3 * static_cast<double>(ranks.world());
  faults.expect(ranks, right, "all_reduce of a column of a matrix does not write that column alone");
}

void try_same_bytes(Collectives& ranks, Faults& faults) {
  at::Generator random = at::detail::createCPUGenerator(static_cast<uint64_t>(100 + ranks.rank()));
  at::Tensor sum = at::randn({1000}, random, at::TensorOptions(at::kFloat));
  ranks.all_reduce(sum, Op::kSum);
  for (const at::Tensor& theirs : ranks.all_gather(sum)) {
    faults.expect(ranks, at::equal(theirs, sum), "all_reduce(sum) does not give the same bytes as on another rank");
  }
}

void try_not_a_number(Collectives& ranks, Faults& faults) {
  for (const auto& [op, name] : ops()) {
    const bool last = ranks.rank() == ranks.world() - 1;
    at::Tensor tensor = at::full({2}, last ? std::nan("") : 1.0, at::TensorOptions(at::kDouble));
    ranks.all_reduce(tensor, op);
    faults.expect(ranks, tensor.isnan().all().item<bool>(), "all_reduce(" + name + ") loses another rank's NaN");
  }
}

void try_gather(Collectives& ranks, Faults& faults) {
  const at::Tensor mine = numbers(ranks.rank(), {2}, at::kLong);
  std::vector<at::Tensor> all = ranks.all_gather(mine);
  bool right = static_cast<int64_t>(all.size()) == ranks.world();
  for (std::size_t rank = 0; right && rank < all.size(); ++rank) {
    right = at::equal(all[rank], numbers(static_cast<int64_t>(rank), {2}, at::kLong));
  }
  faults.expect(ranks, right, "all_gather does not give every rank's tensor, in order of rank");
  const bool shares = right && ranks.world() > 1;  // alone, what comes back may be what was brought
  ranks.barrier();
  if (shares) all.front().fill_(-1 - ranks.rank());
  ranks.barrier();
  const bool own = !shares || (all.front().eq(-1 - ranks.rank()).all().item<bool>() &&
                               at::equal(mine, numbers(ranks.rank(), {2}, at::kLong)));
  faults.expect(ranks, own, "all_gather gives memory that another rank or the caller's own tensor shares");
}

void try_broadcast(Collectives& ranks, Faults& faults) {
  for (int64_t root = 0; root < ranks.world(); ++root) {
    at::Tensor tensor = numbers(ranks.rank(), {2, 3}, at::kDouble);
    const void* const memory = tensor.const_data_ptr();
    ranks.broadcast(tensor, root);
    const std::string what = "broadcast from rank " + std::to_string(root);
    faults.expect(ranks, at::equal(tensor, numbers(root, {2, 3}, at::kDouble)), what + " gives a wrong tensor");
    faults.expect(ranks, tensor.const_data_ptr() == memory, what + " does not write in place");
    if (ranks.rank() == root) tensor.zero_();  // at once, while others may still be reading
  }
}

/// Whether every rank of this process has a number of its own; nothing else can be told without.
void check_numbers(InProcess& in_process, Faults& faults) {
  for (int64_t rank = 0; rank < in_process.ranks(); ++rank) {
    const Collectives& ranks = in_process.rank(rank);
    faults.expect(ranks, ranks.rank() == rank && ranks.world() == in_process.ranks(),
                  "this is what rank(" + std::to_string(rank) + ") of " + std::to_string(in_process.ranks()) +
                      " calls itself, in a world of " + std::to_string(ranks.world()));
  }
}

}  // namespace

void on_ranks(Distributed& backend, const std::function<void(Collectives& ranks)>& work) {
  auto* const in_process = ability<InProcess>(backend);
  if (in_process == nullptr) return work(backend.join());
  std::mutex mutex;
  std::exception_ptr first;
  const auto note = [&](int64_t rank, const std::string& why) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!first) first = std::current_exception();
    in_process->abandon("rank " + std::to_string(rank) + " failed: " + why);
  };
  {
    std::vector<std::jthread> threads;
    for (int64_t rank = 0; rank < in_process->ranks(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          work(in_process->rank(rank));
        } catch (const std::exception& error) {
          note(rank, error.what());
        } catch (...) {
          note(rank, "an exception of a foreign type");
        }
      });
    }
  }
  if (first) std::rethrow_exception(first);
}

std::vector<std::string> collective_faults(Distributed& backend) {
  Faults faults;
  if (auto* const in_process = ability<InProcess>(backend)) check_numbers(*in_process, faults);
  if (!faults.empty()) return faults.take();
  on_ranks(backend, [&](Collectives& ranks) {
    const c10::NoGradGuard no_grad;
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kLong}) {
      try_reduce(ranks, {2, 3}, type, faults);
      try_reduce(ranks, {}, type, faults);
    }
    try_view(ranks, faults);
    try_same_bytes(ranks, faults);
    try_not_a_number(ranks, faults);
    try_gather(ranks, faults);
    try_broadcast(ranks, faults);
    ranks.barrier();
  });
  return faults.take();
}

std::vector<std::string> abandon_faults(Distributed& backend) {
  auto* const in_process = ability<InProcess>(backend);
  if (in_process == nullptr) return {};
  const std::string reason = "rank 0 has no data";
  Faults faults;
  const auto must_throw = [&](Collectives& ranks, const std::string& when) {
    try {
      ranks.barrier();
    } catch (const Error& error) {
      const bool right =
          error.code() == ErrorCode::kDistributed && std::string(error.what()).find(reason) != std::string::npos;
      faults.expect(ranks, right, when + " does not tell the reason, but: " + error.what());
      return;
    } catch (const std::exception& error) {
      faults.expect(ranks, false, when + " throws no tenon::Error, but: " + error.what());
      return;
    } catch (...) {
      faults.expect(ranks, false, when + " throws an exception of a foreign type");
      return;
    }
    faults.expect(ranks, false, when + " does not throw");
  };
  {
    std::vector<std::jthread> threads;
    for (int64_t rank = 1; rank < in_process->ranks(); ++rank) {
      threads.emplace_back(
          [&, rank] { must_throw(in_process->rank(rank), "a barrier that waits while the ranks are abandoned"); });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // most likely they wait by now
    in_process->abandon(reason);
    in_process->abandon("something later");
  }
  for (int64_t rank = 0; rank < in_process->ranks(); ++rank) {
    must_throw(in_process->rank(rank), "a barrier behind abandon()");
  }
  return faults.take();
}

}  // namespace tenon::harness
