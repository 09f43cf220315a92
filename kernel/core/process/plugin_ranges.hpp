// Where opened plugins are mapped, so that an address of a crash tells whose code it is.
#pragma once

#include <cstdint>

#include <core/process/breadcrumb.hpp>

namespace tenon::core {

/// Notes the library that holds `inside` as that plugin's. Once for each library; beyond 512 none is noted. [any thread]
void note_plugin(const Callee& plugin, const void* inside);

/// The plugin whose library holds the address, or nullptr. Safe in a signal handler.
[[nodiscard]] const Callee* plugin_at(uintptr_t address) noexcept;

}  // namespace tenon::core
