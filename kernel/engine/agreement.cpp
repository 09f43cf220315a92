// Small collectives behind decisions.
#include <engine/agreement.hpp>

#include <algorithm>

#include <ATen/ATen.h>

namespace tenon::engine {

namespace {

void combine(Collectives& ranks, std::span<int64_t> values, Collectives::Op op) {
  if (ranks.world() == 1) return;
  at::Tensor all = at::empty({static_cast<int64_t>(values.size())}, at::TensorOptions(at::kLong));
  std::copy(values.begin(), values.end(), all.data_ptr<int64_t>());
  ranks.all_reduce(all, op);
  std::copy_n(all.const_data_ptr<int64_t>(), values.size(), values.begin());
}

}  // namespace

void agree(Collectives& ranks, std::span<int64_t> values) { combine(ranks, values, Collectives::Op::kMax); }

void add_up(Collectives& ranks, std::span<int64_t> values) { combine(ranks, values, Collectives::Op::kSum); }

std::string broadcast_text(Collectives& ranks, const std::string& text, int64_t root) {
  if (ranks.world() == 1) return text;
  at::Tensor size = at::full({1}, static_cast<int64_t>(text.size()), at::TensorOptions(at::kLong));
  ranks.broadcast(size, root);
  at::Tensor bytes = at::zeros({size.item<int64_t>()}, at::TensorOptions(at::kByte));
  auto* const data = reinterpret_cast<char*>(bytes.data_ptr<uint8_t>());
  if (ranks.rank() == root) std::copy(text.begin(), text.end(), data);
  ranks.broadcast(bytes, root);
  return {data, static_cast<std::size_t>(bytes.numel())};
}

void InterruptionPoll::together() const {
  int64_t signal = heard();
  agree(ranks_, {&signal, 1});
  if (signal != 0) throw Interrupted{static_cast<int>(signal)};
}

std::function<void()> InterruptionPoll::while_waiting() const {
  if (interruption_ == nullptr || ranks_.world() > 1) return {};
  return [this] {
    if (const int signal = heard(); signal != 0) throw Interrupted{signal};
  };
}

}  // namespace tenon::engine
