// The table of component kinds. The revisions are those of the headers in tenon/components/, which say the same.
#include <core/plugin/interfaces.hpp>

#include <algorithm>
#include <array>

namespace tenon::core {
namespace {

constexpr std::array kInterfaces{
    InterfaceInfo{"dataset", "tenon.dataset", 1},     InterfaceInfo{"transform", "tenon.transform", 1},
    InterfaceInfo{"loader", "tenon.loader", 1},       InterfaceInfo{"model", "tenon.model", 1},
    InterfaceInfo{"loss", "tenon.loss", 1},           InterfaceInfo{"optimizer", "tenon.optimizer", 1},
    InterfaceInfo{"schedule", "tenon.schedule", 1},   InterfaceInfo{"metric", "tenon.metric", 1},
    InterfaceInfo{"precision", "tenon.precision", 1}, InterfaceInfo{"distributed", "tenon.distributed", 1},
    InterfaceInfo{"exporter", "tenon.exporter", 1},   InterfaceInfo{"observer", "tenon.observer", 1}};

}  // namespace

std::span<const InterfaceInfo> interfaces() noexcept { return kInterfaces; }

const InterfaceInfo* find_interface(std::string_view kind) noexcept {
  const auto* const found = std::ranges::find(kInterfaces, kind, &InterfaceInfo::kind);
  return found == kInterfaces.end() ? nullptr : found;
}

}  // namespace tenon::core
