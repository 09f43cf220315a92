// Distributed backends in one process: every collective, on all ranks that the process has.
#include <conformance/use.hpp>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <tenon/components/distributed.hpp>
#include <tenon/error.hpp>
#include <tenon/harness/collectives.hpp>

namespace tenon::conformance {
namespace {

class UseDistributed final : public UseOf<Distributed> {
 public:
  using UseOf::UseOf;

  void prepare() override {
    make();
    in_process_ = harness::ability<InProcess>(*made_);
    if (in_process_ == nullptr) alone_ = &made_->join();
    for (int64_t rank = 0; in_process_ != nullptr && rank < in_process_->ranks(); ++rank) {
      const int64_t said = in_process_->rank(rank).rank();
      if (said == rank) continue;
      throw Error(ErrorCode::kPlugin, fmt::format("rank({}) says that it is rank {}", rank, said));
    }
  }

  void go(int64_t from, int64_t to, Seen& seen) override {
    if (in_process_ == nullptr) return ask(*alone_, from, to, seen);
    std::vector<Seen> all(static_cast<std::size_t>(in_process_->ranks()));
    harness::on_ranks(
        *made_, [&](Collectives& ranks) { ask(ranks, from, to, all.at(static_cast<std::size_t>(ranks.rank()))); });
    for (const Seen& each : all) seen.add(each);
  }

 private:
  static void ask(Collectives& ranks, int64_t from, int64_t to, Seen& seen) {
    const at::TensorOptions options(at::kDouble);
    for (int64_t i = from; i < to; ++i) {
      const auto mine = static_cast<double>(ranks.rank() + 1);
      for (const Collectives::Op op : {Collectives::Op::kSum, Collectives::Op::kMax, Collectives::Op::kMin}) {
        at::Tensor tensor = at::full({2, 3}, mine, options);
        ranks.all_reduce(tensor, op);
        seen.add("all_reduce", tensor);
      }
      const std::vector<at::Tensor> all = ranks.all_gather(at::full({2}, mine, options));
      for (const at::Tensor& each : all) seen.add("all_gather", each);
      at::Tensor from_root = at::full({2}, mine, options);
      ranks.broadcast(from_root, ranks.world() - 1);
      seen.add("broadcast", from_root);
      ranks.barrier();
    }
    seen.add("rank", static_cast<double>(ranks.rank()));
    seen.add("world", static_cast<double>(ranks.world()));
  }

  InProcess* in_process_ = nullptr;
  Collectives* alone_ = nullptr;
};

constexpr Kind kDistributed{"distributed", Distributed::kRevision, &make_use<UseDistributed>};
TENON_KIND(kDistributed);

}  // namespace
}  // namespace tenon::conformance
