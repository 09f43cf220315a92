// Counting by comparison with each class's number, which needs no scatter and so is deterministic everywhere.
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
  const at::Tensor number = at::arange(classes, target.options()).view({classes, 1});
  const auto of_class = [&](const at::Tensor& indices, const at::Tensor& counts) {
    return indices.reshape({1, -1}).eq(number).logical_and(counts.reshape({1, -1}));
  };
  const at::Tensor wanted = of_class(target, counted);
  const at::Tensor predicted = of_class(logits.argmax(1), counted.logical_and(logits.isnan().any(1).logical_not()));
  const at::Tensor counts = at::stack({wanted.logical_and(predicted).sum(1), wanted.sum(1), predicted.sum(1)});
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
