// Diagnostics in the caret form.
#include <core/text/render.hpp>

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include <core/text/excerpt.hpp>
#include <core/text/readable.hpp>

namespace tenon::core {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kYellow = "\x1b[1;33m";
constexpr std::string_view kGreen = "\x1b[1;32m";
constexpr std::string_view kBlue = "\x1b[1;34m";
constexpr std::string_view kReset = "\x1b[0m";

std::string paint(std::string_view style, std::string_view text, bool color) {
  return color && !text.empty() ? fmt::format("{}{}{}", style, text, kReset) : std::string(text);
}

std::string_view style_of(Severity severity) {
  return severity == Severity::kError ? kRed : severity == Severity::kWarning ? kYellow : kGreen;
}

struct Mark {
  const Span* span;
  std::string_view label;
  bool primary;
  bool shown = false;
};

/// Width of the column for line numbers: that of the greatest number shown, at least two.
std::size_t gutter_width(const std::vector<Mark>& marks) {
  std::size_t width = 2;
  for (const Mark& mark : marks) {
    if (mark.span->source->kind() == Source::Kind::kArgument) continue;
    width = std::max(width, fmt::formatted_size("{}", mark.span->position().line));
  }
  return width;
}

class TextRenderer {
 public:
  TextRenderer(const Diagnostic& diagnostic, const RenderOptions& options)
      : diagnostic_(diagnostic), color_(options.color), hidden_(diagnostic.hidden) {
    hidden_.insert(hidden_.end(), options.hidden.begin(), options.hidden.end());
  }

  std::string render() {
    title();
    std::vector<Mark> marks;
    if (diagnostic_.span) marks.push_back({&diagnostic_.span, diagnostic_.label, true});
    for (const Label& label : diagnostic_.secondary) {
      if (label.span) marks.push_back({&label.span, label.text, false});
    }
    width_ = gutter_width(marks);
    for (std::size_t i = 0; i < marks.size(); ++i) show(marks, i);
    if (!diagnostic_.span && !diagnostic_.label.empty()) note(diagnostic_.label);
    for (const std::string& text : diagnostic_.notes) note(text);
    return std::move(out_);
  }

 private:
  void title() {
    const std::string head = diagnostic_.code.empty()
                                 ? std::string(to_string(diagnostic_.severity))
                                 : fmt::format("{}[{}]", to_string(diagnostic_.severity), diagnostic_.code);
    out_ += fmt::format("{}{}\n", paint(style_of(diagnostic_.severity), head, color_),
                        paint(kBold, ": " + readable(diagnostic_.message), color_));
    if (!diagnostic_.span && !diagnostic_.pointer.empty()) {
      out_ += fmt::format("  {} {}\n", paint(kBlue, "-->", color_), one_line(diagnostic_.pointer));
    }
  }

  /// Shows a mark, and below its line all later marks on the same line; one that was shown so is not shown again.
  void show(std::vector<Mark>& marks, std::size_t which) {
    const Mark& mark = marks[which];
    if (mark.shown) return;
    const Source& source = *mark.span->source;
    const bool argument = source.kind() == Source::Kind::kArgument;
    out_ += fmt::format("  {} {}", paint(kBlue, mark.primary ? "-->" : ":::", color_), one_line(mark.span->describe()));
    if (mark.primary && !diagnostic_.pointer.empty()) out_ += "  " + one_line(diagnostic_.pointer);
    out_ += '\n';

    const Excerpt excerpt = make_excerpt(*mark.span, hidden_);
    const std::size_t line = source.line_of(mark.span->begin);
    const std::string prefix = argument ? source.path() + " " : std::string();
    gutter(argument ? std::string() : fmt::format("{}", line));
    out_ += fmt::format(" {}{}\n", prefix, excerpt.text);
    underline(mark, excerpt, prefix.size());
    for (std::size_t i = which + 1; i < marks.size(); ++i) {
      if (marks[i].span->source != mark.span->source || source.line_of(marks[i].span->begin) != line) continue;
      const Excerpt other = make_excerpt(*marks[i].span, hidden_);
      if (other.text != excerpt.text) continue;  // A long line was cut elsewhere.
      underline(marks[i], other, prefix.size());
      marks[i].shown = true;
    }
  }

  void underline(const Mark& mark, const Excerpt& excerpt, std::size_t shift) {
    gutter("");
    const std::string carets(excerpt.length, mark.primary ? '^' : '-');
    const std::string label = mark.label.empty() ? std::string() : fmt::format(" {}", readable(mark.label));
    out_ += fmt::format(" {}{}\n", std::string(shift + excerpt.mark, ' '),
                        paint(mark.primary ? style_of(diagnostic_.severity) : kBlue, carets + label, color_));
  }

  void gutter(std::string_view number) { out_ += paint(kBlue, fmt::format("{:<{}} |", number, width_), color_); }

  void note(std::string_view text) {
    out_ += fmt::format("{} {} {}\n", std::string(width_, ' '), paint(kBlue, "=", color_), readable(text));
  }

  const Diagnostic& diagnostic_;
  bool color_;
  std::vector<Span> hidden_;
  std::size_t width_ = 2;
  std::string out_;
};

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string render_text(const Diagnostic& diagnostic, const RenderOptions& options) {
  return TextRenderer(diagnostic, options).render();
}

std::string render_text(const Diagnostics& diagnostics, const RenderOptions& options) {
  std::string out;
  const std::vector<Span> hidden = diagnostics.hidden();
  RenderOptions each = options;
  each.hidden = hidden;
  for (const Diagnostic& diagnostic : diagnostics.all()) out += render_text(diagnostic, each);
  std::string counts;
  if (diagnostics.errors() > 0) counts = counted(diagnostics.errors(), "error");
  if (diagnostics.warnings() > 0) {
    counts += fmt::format("{}{}", counts.empty() ? "" : ", ", counted(diagnostics.warnings(), "warning"));
  }
  if (counts.empty()) return out;
  out += counts;
  if (diagnostics.has_errors() && !options.outcome.empty()) out += fmt::format("; {}", options.outcome);
  return out + '\n';
}

bool want_color(bool is_terminal, const char* no_color, const char* term) noexcept {
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return is_terminal && !refused && !dumb;
}

}  // namespace tenon::core
