// What datasets have to say of their data, on the way to people.
#pragma once

#include <functional>
#include <string>

#include <host/console.hpp>

namespace tenon::host {

/// Reports each text as a note. The console outlives it.
[[nodiscard]] inline std::function<void(const std::string&)> notes_to(Console& console) {
  return [&console](const std::string& text) { console.report(core::Severity::kNote, "", text); };
}

}  // namespace tenon::host
