// Text in aligned columns.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::host {

/// Rows of cells, two blanks between columns. The last cell of a row is not padded and is wrapped at the terminal's
/// width. Cells are valid UTF-8 without line feeds.
class Table {
 public:
  using Style = std::function<std::string(std::string_view)>;

  /// `indent` blanks stand before each row.
  explicit Table(std::size_t indent = 0) : indent_(indent) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// How a column is painted; styles take no room.
  void style(std::size_t index, Style style);

  /// Cells wider than this do not widen their column: what follows them is pushed to the right.
  void limit(std::size_t index, std::size_t width);

  /// What follows a wider cell than its column's limit goes on in a line below, so that every column stays aligned.
  void break_behind_wide_cells() noexcept { breaks_ = true; }

  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  /// One line a row, without line feeds.
  [[nodiscard]] std::vector<std::string> lines() const;

  /// All rows, each ending with a line feed. `width` is the terminal's, 0 for lines of any length.
  [[nodiscard]] std::string render(std::size_t width = 0) const;

 private:
  struct Column {
    std::size_t limit = 0;
    Style style;
  };

  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] std::string line(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                                 std::size_t width) const;
  Column& column(std::size_t index);

  std::size_t indent_;
  bool breaks_ = false;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The text in lines of at most `width` columns, broken at blanks; one line when `width` is 0. A word that is longer
/// stays whole.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace tenon::host
