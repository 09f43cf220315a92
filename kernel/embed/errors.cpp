// Findings as plain values, and every exception as one type.
#include <embed/errors.hpp>

#include <filesystem>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <core/plugin/refusal.hpp>
#include <core/text/render.hpp>
#include <engine/engine.hpp>

namespace tenon::kernel {
namespace {

Diagnostic told(const core::Diagnostic& finding) {
  Diagnostic diagnostic;
  diagnostic.severity = core::to_string(finding.severity);
  diagnostic.code = finding.code;
  diagnostic.message = finding.message;
  diagnostic.pointer = finding.pointer;
  diagnostic.fix = finding.label;
  diagnostic.notes = finding.notes;
  if (finding.span) {
    const core::Position position = finding.span.position();
    diagnostic.file = finding.span.source->path();
    diagnostic.line = static_cast<int64_t>(position.line);
    diagnostic.column = static_cast<int64_t>(position.column);
  }
  return diagnostic;
}

std::string without_last_line_feed(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

[[noreturn]] void throw_plain(ErrorCode code, const std::string& message, const std::string& word = {}) {
  throw Error(code, message, {{.severity = "error", .code = word, .message = message}});
}

}  // namespace

Error::Error(ErrorCode code, const std::string& text, std::vector<Diagnostic> diagnostics)
    : tenon::Error(code, text), diagnostics_(std::move(diagnostics)) {}

Error::~Error() = default;

std::vector<Diagnostic> told(const core::Diagnostics& findings) {
  std::vector<Diagnostic> all;
  for (const core::Diagnostic& finding : findings.all()) all.push_back(told(finding));
  return all;
}

void require_no_error(const core::Diagnostics& findings, std::string_view outcome) {
  for (const core::Diagnostic& finding : findings.all()) {
    if (finding.severity != core::Severity::kError) continue;
    const std::string text = core::render_text(findings, {.color = false, .outcome = outcome, .hidden = {}});
    throw Error(finding.error_code, without_last_line_feed(text), told(findings));
  }
}

void rethrow_as_error() {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const engine::PlacedError& error) {
    const core::Diagnostic& finding = error.diagnostic();
    throw Error(error.code(), without_last_line_feed(core::render_text(finding)), {told(finding)});
  } catch (const core::Refusal& error) {
    throw_plain(error.code(), error.what(), error.reason());
  } catch (const tenon::Error& error) {
    throw_plain(error.code(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    throw_plain(ErrorCode::kStorage, fmt::format("cannot use {}: {}", error.path1().string(), error.code().message()));
  } catch (const std::bad_alloc&) {
    throw_plain(ErrorCode::kMemory, "out of memory");
  } catch (const std::exception& error) {
    throw_plain(ErrorCode::kPlugin, error.what(), "internal");
  } catch (...) {
    throw_plain(ErrorCode::kPlugin, "an exception of a foreign type was thrown", "internal");
  }
}

}  // namespace tenon::kernel
