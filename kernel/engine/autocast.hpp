// Autocast for one forward pass.
#pragma once

#include <optional>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace tenon::engine {

/// Forward runs in `type` while it lives; nothing happens without one. Restores what was set before, also when
/// something throws. Its state belongs to the thread; casts are not cached, since libtorch has one cache for all threads.
/// [trainer]
class AutocastGuard {
 public:
  AutocastGuard(c10::DeviceType device, std::optional<c10::ScalarType> type);
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;
  ~AutocastGuard();

 private:
  c10::DeviceType device_;
  bool active_;
  bool enabled_before_ = false;
  bool cache_before_ = true;
  c10::ScalarType type_before_ = c10::ScalarType::Float;
};

}  // namespace tenon::engine
