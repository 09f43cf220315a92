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
  at::autocast::increment_nesting();
}

AutocastGuard::~AutocastGuard() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

}  // namespace tenon::engine
