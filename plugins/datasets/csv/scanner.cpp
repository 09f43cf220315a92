// One pass over the text.
#include <csv/scanner.hpp>

namespace tenon::datasets {

std::string_view Cell::value(std::string& scratch) const {
  if (!doubled) return raw;
  scratch.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    scratch += raw[i];
    if (raw[i] == '"') ++i;
  }
  return scratch;
}

Scanner::Scanner(std::string_view text, char delimiter, Problems& problems, std::size_t begin)
    : text_(text.substr(0, text.find_last_not_of("\r\n") + 1)), delimiter_(delimiter), problems_(problems), at_(begin) {
  for (const char c : {delimiter, '\n', '\r', '"'}) ends_plain_[static_cast<unsigned char>(c)] = true;
}

void Scanner::report(std::size_t offset, const std::string& message) {
  problems_.add(offset, message);
  broken_ = true;
}

bool Scanner::next(std::vector<Cell>& row) {
  while (at_ < text_.size() && !problems_.full()) {
    row.clear();
    row_offset_ = at_;
    broken_ = false;
    do {
      row.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted_cell() : plain_cell());
    } while (!end_row());
    if (!broken_) return true;
  }
  return false;
}

Cell Scanner::quoted_cell() {
  Cell cell{at_, {}, true, false};
  const std::size_t begin = at_ + 1;
  std::size_t close = text_.find('"', begin);
  while (close != std::string_view::npos && close + 1 < text_.size() && text_[close + 1] == '"') {
    cell.doubled = true;
    close = text_.find('"', close + 2);
  }
  if (close == std::string_view::npos) {
    report(at_, "this quote is never closed");
    at_ = text_.size();
    return cell;
  }
  cell.raw = text_.substr(begin, close - begin);
  at_ = close + 1;
  const std::size_t behind = at_;
  while (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
  if (at_ > behind) {
    const std::string other = other_delimiter(behind);
    report(behind, shown(text_.substr(behind, at_ - behind)) + " stands behind a closing quote; " +
                       (other.empty() ? "a quote within a cell is written twice (\"\")" : other));
  }
  return cell;
}

Cell Scanner::plain_cell() {
  const std::size_t begin = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (!ends_plain_[static_cast<unsigned char>(c)]) {
      ++at_;
    } else if (c == '"') {
      const std::string other = at_ > begin ? other_delimiter(at_ - 1) : "";
      if (!broken_) {
        report(at_, "a quote within a cell: " +
                        (other.empty() ? "put the cell in quotes and write this one twice (\"\")" : other));
      }
      ++at_;
    } else {
      break;
    }
  }
  return {begin, text_.substr(begin, at_ - begin), false, false};
}

/// What to say where a quote stands beside a character that may have been meant to separate cells; else nothing.
std::string Scanner::other_delimiter(std::size_t at) const {
  const std::string_view found = text_.substr(at, 1);
  if (found.find_first_of(";\t|,") == std::string_view::npos) return "";
  return "if " + shown(found) + " separates the cells, set \"delimiter\" to it";
}

/// Steps over what is behind a cell: false when another one follows.
bool Scanner::end_row() {
  if (at_ == text_.size()) return true;
  const char c = text_[at_++];
  if (c == delimiter_) return false;
  if (c == '\n') return true;
  if (at_ < text_.size() && text_[at_] == '\n') {
    ++at_;
  } else {
    report(at_ - 1, "a carriage return alone ends no line: save the file with line ends \\n or \\r\\n");
  }
  return true;
}

}  // namespace tenon::datasets
