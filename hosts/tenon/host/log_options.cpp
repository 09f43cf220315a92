// From options to parameters of observer:console.
#include <host/log_options.hpp>

#include <optional>
#include <string>

namespace tenon::host {
namespace {

constexpr const char* kConsole = "observer:console";

bool logs_json(const Arguments& arguments) { return arguments.value("log-format") == "json"; }

}  // namespace

void apply_log_options(const Arguments& arguments, Console& console) {
  console.set_quiet(arguments.has("quiet"));
  if (logs_json(arguments)) console.set_json(true);
}

void direct_observers(const Arguments& arguments, const core::Resolved& resolved, core::Graph& graph) {
  const bool is_default = resolved.origin("/observe").kind == core::LayerKind::kDefault;
  const std::optional<std::string> color = arguments.value("color");
  for (core::Attached& observer : graph.observe) {
    if (observer.use != kConsole) continue;
    if (is_default && arguments.has("quiet")) observer.with["progress"] = "none";
    if (logs_json(arguments)) observer.with["format"] = "json";
    if (color && *color != "auto") observer.with["color"] = *color;
  }
}

}  // namespace tenon::host
