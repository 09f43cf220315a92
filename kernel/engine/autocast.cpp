// libtorch's autocast functions as a guard.
#include <engine/autocast.hpp>

#include <ATen/autocast_mode.h>

namespace tenon::engine {

AutocastGuard::AutocastGuard(c10::DeviceType device, std::optional<c10::ScalarType> type)
    : device_(device), active_(type.has_value()) {
  if (!active_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(device_);
  type_before_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_dtype(device_, *type);
  at::autocast::set_autocast_enabled(device_, true);
  cache_before_ = at::autocast::is_autocast_cache_enabled();
  at::autocast::set_autocast_cache_enabled(false);
}

AutocastGuard::~AutocastGuard() {
  if (!active_) return;
  at::autocast::set_autocast_cache_enabled(cache_before_);
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

}  // namespace tenon::engine
