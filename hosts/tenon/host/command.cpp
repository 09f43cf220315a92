// Gathers the commands that the linker put together.
#include <host/command.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

// The linker makes these names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
extern const tenon::host::Command* const __start_tenon_commands[] __attribute__((visibility("hidden")));
extern const tenon::host::Command* const __stop_tenon_commands[] __attribute__((visibility("hidden")));
}
// NOLINTEND(readability-identifier-naming)

namespace tenon::host {

std::span<const Command* const> commands() {
  static const std::vector<const Command*> sorted = [] {
    std::vector<const Command*> all(__start_tenon_commands, __stop_tenon_commands);
    std::sort(all.begin(), all.end(), [](const Command* a, const Command* b) {
      return std::tie(a->group, a->name) < std::tie(b->group, b->name);
    });
    return all;
  }();
  return sorted;
}

const Command* find_command(std::string_view name) {
  const auto all = commands();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Command* each) { return each->name == name; });
  return found == all.end() ? nullptr : *found;
}

std::span<const Option> common_options() noexcept {
  static constexpr Option kCommon[]{
      {"plugin-path", "DIR", "look for plugins here first: a folder, or one plugin's file", true},
      {"trust-dir", "DIR", "accept plugins below this folder although others may write there", true},
      {"color", "auto|always|never", "auto (default): on a terminal, unless NO_COLOR is set"},
      {"help", "", "this text; -h does the same"},
  };
  return kCommon;
}

}  // namespace tenon::host
