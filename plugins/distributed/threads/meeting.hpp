// Where the ranks of one process meet: a call is complete when every rank has come with the same one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

namespace tenon::distributed {

/// One call after the other, each by all ranks. A call that fails, on whichever rank and for whatever reason, fails on
/// all of them, and so does every later one. [any thread]
class Meeting {
 public:
  using Tensors = std::vector<at::Tensor>;

  /// What a complete call gives to every rank, made of what the ranks brought, in their order.
  using Combine = std::function<Tensors(const Tensors& brought)>;

  Meeting(int64_t world, std::chrono::duration<double> timeout);

  [[nodiscard]] int64_t world() const noexcept { return world_; }

  /// Waits for the other ranks. `call` tells what is done, with shape and type: it must be equal on all ranks.
  /// `combine` runs once, on one of the threads, without gradients. The result is shared: copy out of it, and leave it
  /// alone.
  /// \throws Error (kDistributed): another rank came with another call or not in time, or the ranks were abandoned.
  [[nodiscard]] Tensors meet(int64_t rank, std::string call, const at::Tensor& tensor, const Combine& combine);

  /// Ends this and all later calls. The first reason stays.
  void abandon(std::string_view reason) noexcept;

 private:
  struct Arrival {
    bool here = false;
    std::string call;
    at::Tensor tensor;
  };

  void complete(const Combine& combine);
  void fail(std::string reason);
  void require_open() const;
  [[nodiscard]] std::optional<std::string> mismatch() const;
  [[nodiscard]] std::string missing(const std::string& call) const;

  const int64_t world_;
  const std::chrono::steady_clock::duration timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All below belong to mutex_.
  std::vector<Arrival> arrivals_;  // by rank, for the call that is being gathered
  int64_t arrived_ = 0;
  int64_t calls_ = 0;  // complete ones
  std::string last_call_;
  Tensors result_;  // of the last complete call: the next one cannot be complete before every rank has taken it
  bool failed_ = false;
  std::string reason_;
};

}  // namespace tenon::distributed
