// Line ends within quotes end no row: a row ends where the quotes before it are even in number.
#include <csv/mapped_table.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <csv/scanner.hpp>
#include <files/content_hash.hpp>
#include <files/numbers.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

/// Bytes that are looked at before their memory is given back.
constexpr std::size_t kWindow = std::size_t{8} << 20U;

/// Where the row behind the one at `begin` begins; npos when a quote of this one is never closed.
std::size_t behind_row(std::string_view text, std::size_t begin) {
  bool within_quotes = false;
  for (std::size_t at = begin; at < text.size();) {
    const void* const found = std::memchr(text.data() + at, '\n', text.size() - at);
    const std::size_t end =
        found == nullptr ? text.size() : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    const auto quotes = std::count(text.data() + at, text.data() + end, '"');
    within_quotes = within_quotes != (quotes % 2 != 0);
    if (!within_quotes) return std::min(end + 1, text.size());
    at = end + 1;
  }
  return std::string_view::npos;
}

/// What a call of read() needs again and again.
struct Scratch {
  std::vector<Cell> row;
  std::vector<Array> arrays;
  std::string text;
};

Scratch& scratch() {
  thread_local Scratch own;
  return own;
}

}  // namespace

MappedTable::MappedTable(MappedFile file, const CsvParams& params)
    : file_(std::move(file)), params_(params), text_(without_mark(file_.text())) {
  text_ = text_.substr(0, text_.find_last_not_of("\r\n") + 1);
  for (const CsvField& field : params.fields) parsers_.emplace_back(field);
  build();
}

void MappedTable::fail(const std::string& why) const {
  throw Error(ErrorCode::kData, params_.path.string() + ": " + why, "/path");
}

void MappedTable::build() {
  require_text(text_, params_.path.string());
  Problems problems(params_.path.string(), text_);
  Scanner scanner(text_, params_.delimiter.front(), problems);
  std::vector<Cell> row;
  const bool there = scanner.next(row);
  require_utf8(text_, 0, scanner.position(), problems);
  problems.fail_if_any("/path");
  if (!there) fail("is empty");
  rules_.emplace(row, params_, problems);
  first_row_ = params_.header ? scanner.position() : 0;
  hash_ = content_hash(std::as_bytes(std::span(text_.substr(0, first_row_))));
  if (params_.missing == CsvMissing::kSkip) {
    count_whole(first_row_);
  } else {
    count_all(first_row_);
  }
  if (rows_.kept + rows_.dropped == 0) fail("has a header, but no rows");
  if (rows_.kept == 0) fail(all_dropped(rows_.dropped));
}

void MappedTable::keep(std::size_t offset) {
  if (rows_.kept++ % kEvery == 0) begins_.push_back(offset);
}

void MappedTable::count_all(std::size_t begin) {
  Problems problems(params_.path.string(), text_);
  std::size_t window = begin;
  for (std::size_t at = begin; at < text_.size();) {
    keep(at);
    const std::size_t next = behind_row(text_, at);
    if (next == std::string_view::npos) {
      problems.add(at, "a quote of the row that begins here is never closed");
      problems.fail_if_any("/path");
    }
    at = next;
    if (at - window < kWindow && at < text_.size()) continue;
    require_utf8(text_, window, at - window, problems);
    hash_ = content_hash(std::as_bytes(std::span(text_.substr(window, at - window))), hash_);
    file_.forget(window, at - window);
    window = at;
  }
}

/// Looks at the cells too, since rows that lack a value do not count.
void MappedTable::count_whole(std::size_t begin) {
  Problems problems(params_.path.string(), text_);
  Scanner scanner(text_, params_.delimiter.front(), problems, begin);
  std::vector<Cell> row;
  std::size_t window = begin;
  while (scanner.next(row)) {
    if (is_whole(row, scanner.row_offset(), problems)) {
      keep(scanner.row_offset());
    } else {
      ++rows_.dropped;
    }
    const std::size_t at = scanner.position();
    if (at - window < kWindow && at < text_.size()) continue;
    require_utf8(text_, window, at - window, problems);
    hash_ = content_hash(std::as_bytes(std::span(text_.substr(window, at - window))), hash_);
    file_.forget(window, at - window);
    window = at;
  }
  problems.fail_if_any("/path");
}

bool MappedTable::is_whole(const std::vector<Cell>& row, std::size_t offset, Problems& problems) const {
  return rules_->take(row, offset, false, problems, [](const Wanted&, const Cell&) {
    return std::optional<std::string>();
  }) == RowRules::Verdict::kWhole;
}

/// Where a row that was kept begins.
std::size_t MappedTable::find_row(int64_t row) const {
  std::size_t at = begins_[static_cast<std::size_t>(row / kEvery)];
  int64_t ahead = row % kEvery;
  if (params_.missing == CsvMissing::kError) {
    for (; ahead > 0; --ahead) {
      at = behind_row(text_, at);
      if (at >= text_.size()) fail("was changed while it was read");
    }
    return at;
  }
  Problems problems(params_.path.string(), text_);
  Scanner scanner(text_, params_.delimiter.front(), problems, at);
  std::vector<Cell>& cells = scratch().row;
  while (scanner.next(cells)) {
    if (!is_whole(cells, scanner.row_offset(), problems)) continue;
    if (ahead-- == 0) break;
  }
  return scanner.row_offset();
}

void MappedTable::read(int64_t row, Sample& out) const {
  Problems problems(params_.path.string(), text_);
  Scratch& own = scratch();
  const std::size_t begin = find_row(row);
  Scanner scanner(text_, params_.delimiter.front(), problems, begin);
  scanner.next(own.row);
  problems.fail_if_any("/path");
  own.arrays.clear();
  for (std::size_t i = 0; i < parsers_.size(); ++i) {
    own.arrays.push_back(parsers_[i].is_text()
                             ? Array()
                             : out.allocate(static_cast<int>(i), parsers_[i].spec().dtype, parsers_[i].shape()));
  }
  rules_->take(own.row, begin, begin == first_row_, problems,
               [&](const Wanted& wanted, const Cell& cell) -> std::optional<std::string> {
                 const FieldParser& parser = parsers_[wanted.field];
                 if (!parser.is_text()) {
                   return parser.parse(wanted.position, cell, static_cast<std::byte*>(own.arrays[wanted.field].data));
                 }
                 const std::string_view text = cell.value(own.text);
                 const std::array<int64_t, 1> shape{static_cast<int64_t>(text.size())};
                 const Array to = out.allocate(static_cast<int>(wanted.field), Dtype::kUint8, shape);
                 if (!text.empty()) std::memcpy(to.data, text.data(), text.size());
                 return std::nullopt;
               });
  problems.fail_if_any("/path");
}

std::optional<std::vector<double>> MappedTable::numbers(std::string_view field) const {
  const auto found = std::find_if(parsers_.begin(), parsers_.end(),
                                  [&](const FieldParser& parser) { return parser.spec().name == field; });
  if (found == parsers_.end() || found->is_text() || !found->shape().empty()) return std::nullopt;
  const auto wanted_field = static_cast<std::size_t>(found - parsers_.begin());
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(rows_.kept));
  Problems problems(params_.path.string(), text_);
  Scanner scanner(text_, params_.delimiter.front(), problems, first_row_);
  std::vector<Cell> row;
  std::size_t window = first_row_;
  while (scanner.next(row)) {
    std::byte value[8];
    const RowRules::Verdict verdict = rules_->take(row, scanner.row_offset(), scanner.row_offset() == first_row_,
                                                   problems, [&](const Wanted& wanted, const Cell& cell) {
                                                     return wanted.field == wanted_field ? found->parse(0, cell, value)
                                                                                         : std::optional<std::string>();
                                                   });
    if (verdict == RowRules::Verdict::kWhole) all.push_back(number_at(value, found->spec().dtype));
    if (scanner.position() - window < kWindow) continue;
    file_.forget(window, scanner.position() - window);
    window = scanner.position();
  }
  problems.fail_if_any("/path");
  return all;
}

}  // namespace tenon::datasets
