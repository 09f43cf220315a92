// What the first row of a table says of the others, and what can be wrong with those.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <csv/layout.hpp>
#include <csv/params.hpp>
#include <csv/problems.hpp>
#include <csv/scanner.hpp>

namespace tenon::datasets {

/// The columns of a table by their names, and where they go.
class RowRules {
 public:
  enum class Verdict { kWhole, kMissing, kWrong };

  /// `first`: the first row, a header where the parameters say so. `params` outlives this object.
  /// \throws Error (kData) when two columns are called alike, or one that is wanted is not there.
  RowRules(const std::vector<Cell>& first, const CsvParams& params, Problems& problems);

  /// Gives each wanted cell of a row to `put(wanted, cell)`, which says what is wrong with it, or nothing. A row that
  /// lacks a value is missing; what is against the rules goes to the problems. `first_of_data`: no row was read before.
  template <class Put>
  Verdict take(const std::vector<Cell>& row, std::size_t row_offset, bool first_of_data, Problems& problems,
               const Put& put) const {
    if (!has_all_cells(row, row_offset, problems)) return Verdict::kWrong;
    Verdict verdict = Verdict::kWhole;
    for (const Wanted& wanted : wanted_) {
      const Cell& cell = row[wanted.column];
      if (misses(wanted, cell)) {
        if (params_.missing == CsvMissing::kError) report_missing(wanted, cell, problems);
        if (verdict == Verdict::kWhole) verdict = Verdict::kMissing;
      } else if (const std::optional<std::string> error = put(wanted, cell)) {
        report_wrong(wanted, cell, *error, first_of_data, problems);
        verdict = Verdict::kWrong;
      }
    }
    return verdict;
  }

 private:
  void take_names(const std::vector<Cell>& first, Problems& problems);
  bool has_all_cells(const std::vector<Cell>& row, std::size_t row_offset, Problems& problems) const;
  [[nodiscard]] bool misses(const Wanted& wanted, const Cell& cell) const;
  void report_missing(const Wanted& wanted, const Cell& cell, Problems& problems) const;
  void report_wrong(const Wanted& wanted, const Cell& cell, const std::string& error, bool first_of_data,
                    Problems& problems) const;

  const CsvParams& params_;
  std::vector<std::string> names_;
  std::vector<Wanted> wanted_;
};

/// Why no row is left of `rows`.
[[nodiscard]] std::string all_dropped(int64_t rows);

/// \throws Error (kData) for files that are no text at all, though called so.
void require_text(std::string_view text, const std::string& file);

/// Looks at `size` bytes of the text from `begin` on. \throws Error (kData) at the first place that is no UTF-8.
void require_utf8(std::string_view text, std::size_t begin, std::size_t size, Problems& problems);

}  // namespace tenon::datasets
