// Errors of the running engine as findings with a place in the pipeline.
#include <string>
#include <utility>

#include <fmt/format.h>

#include <core/graph/build.hpp>
#include <core/text/error_words.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

/// With a parameter to blame, the error stands at its value; without one at `fallback`.
Diagnostic component_error(const Resolved& resolved, const std::string& owner, const std::string& fallback,
                           const std::string& who, const std::string& plugin, const Error& error) {
  const bool has_parameter = !error.pointer().empty();
  const std::string pointer = has_parameter ? owner + "/with" + error.pointer() : fallback;
  Diagnostic diagnostic =
      resolved.error_at_value(pointer, std::string(error_word(error.code())), fmt::format("{}: {}", who, error.what()));
  diagnostic.error_code = error.code();
  if (has_parameter && !resolved.locate(pointer).exact) {
    diagnostic.notes.push_back(fmt::format("about the parameter {}", error.pointer().substr(1)));
  }
  if (error.code() == ErrorCode::kPlugin) diagnostic.notes.push_back(fmt::format("plugin: {}", plugin));
  return diagnostic;
}

}  // namespace

Diagnostic diagnose(const Resolved& resolved, const Node& node, const Error& error) {
  const std::string who = fmt::format("{} {} ({})", node.kind, core::quoted(node.name), node.use());
  return component_error(resolved, node.pointer, node.pointer + "/use", who, node.info ? node.info->plugin : "", error);
}

Diagnostic diagnose(const Resolved& resolved, const Attached& attached, const Error& error) {
  return component_error(resolved, attached.pointer, attached.pointer + "/use", attached.use,
                         attached.info ? attached.info->plugin : "", error);
}

Diagnostic diagnose(const Resolved& resolved, std::string_view pointer, const Error& error) {
  Diagnostic diagnostic = resolved.error_at_value(pointer, std::string(error_word(error.code())), error.what());
  diagnostic.error_code = error.code();
  return diagnostic;
}

}  // namespace tenon::core
