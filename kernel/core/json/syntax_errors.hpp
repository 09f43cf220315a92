// Reports the reader's errors: at most so many, and not the consequences of one that was reported already.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <core/json/reader.hpp>

namespace tenon::core {

/// What a syntax error says beside its place.
struct SyntaxError {
  std::string code = {};
  std::string message = {};
  std::string label = {};
  std::optional<std::string> replacement = {};  ///< For the whole span.
  Applicability applicability = Applicability::kMaybe;
  std::vector<Label> secondary = {};
  std::vector<std::string> notes = {};
};

class SyntaxErrors {
 public:
  SyntaxErrors(SourcePtr source, Diagnostics& diagnostics, std::string pointer);

  /// Reports an error over bytes [begin, end) of the value at the current pointer, unless its line is quiet.
  void report(std::size_t begin, std::size_t end, SyntaxError error);

  /// Reports even where the line is quiet.
  void report_always(std::size_t begin, std::size_t end, SyntaxError error);

  /// Keeps quiet about the rest of the line that holds `offset`: what follows an error there is guesswork.
  void quiet_line(std::size_t offset);

  /// True once reading must end: the text is over, or there are too many errors.
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  void stop() noexcept { stopped_ = true; }

  /// The current pointer grows by a segment and shrinks again; `leave` takes what `enter` returned.
  [[nodiscard]] std::size_t enter(std::string_view key);
  void leave(std::size_t mark) { pointer_.resize(mark); }

  [[nodiscard]] const std::string& pointer() const noexcept { return pointer_; }

  /// Number of errors that were reported.
  [[nodiscard]] std::size_t count() const noexcept { return reported_; }

  [[nodiscard]] Span span(std::size_t begin, std::size_t end) const { return {source_, begin, end}; }

 private:
  SourcePtr source_;
  Diagnostics& diagnostics_;
  std::string pointer_;
  std::size_t quiet_until_ = 0;
  std::size_t reported_ = 0;
  bool stopped_ = false;
};

}  // namespace tenon::core
