// Counting by adding ones at each class's number: whole numbers, so that their order does not matter on any device.
#include <support/class_counts.hpp>

#include <string>

#include <ATen/ATen.h>

#include <support/across_ranks.hpp>
#include <support/shapes.hpp>
#include <tenon/error.hpp>

namespace tenon::metrics {

void ClassCounts::reset() {
  counts_ = at::Tensor();
  targets_.reset();
}

void ClassCounts::add(const Tensors& in) {
  const auto [logits, target] = class_logits(in.at("logits"), in.at("target"));
  if (target.numel() == 0) return;
  const int64_t classes = logits.size(1);
  const at::Tensor counted = targets_.add(target, classes);
  const at::Tensor said = logits.argmax(1);
  const at::Tensor wanted = counted.logical_and(target.ge(0)).logical_and(target.lt(classes));
  const at::Tensor predicted = counted.logical_and(logits.amax(1).isnan().logical_not());
  const at::TensorOptions whole = target.options();
  const at::Tensor one = at::ones({1}, whole);
  // A place behind the last class takes what does not count.
  const auto times = [&](const at::Tensor& numbers, const at::Tensor& which) {
    const at::Tensor places = numbers.where(which, classes).reshape({-1});
    const at::Tensor sums = at::zeros({classes + 1}, whole);
    return sums.scatter_add(0, places, one.expand_as(places)).narrow(0, 0, classes);
  };
  const at::Tensor both = wanted.logical_and(predicted).logical_and(target.eq(said));
  const at::Tensor counts = at::stack({times(target, both), times(target, wanted), times(said, predicted)});
  if (counts_.defined() && counts_.size(1) != classes) {
    throw Error(ErrorCode::kConfig, "logits have " + std::to_string(classes) + " classes, but an earlier batch had " +
                                        std::to_string(counts_.size(1)));
  }
  counts_ = counts_.defined() ? counts_ + counts : counts;
}

ClassTotals ClassCounts::totals(Collectives& ranks) const {
  const int64_t classes = largest(ranks, counts_.defined() ? counts_.size(1) : 0, counts_);
  targets_.require_classes(ranks);
  at::Tensor counts = counts_.defined() ? counts_.clone() : at::zeros({3, classes}, at::kLong);
  ranks.all_reduce(counts, Collectives::Op::kSum);
  const at::Tensor host = counts.cpu();
  const auto* const values = host.const_data_ptr<int64_t>();
  return {{values, values + classes},
          {values + classes, values + 2 * classes},
          {values + 2 * classes, values + 3 * classes}};
}

}  // namespace tenon::metrics
