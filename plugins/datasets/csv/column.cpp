// From cells to values, by std::from_chars alone: no locale has a say.
#include <csv/column.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include <files/content_hash.hpp>
#include <files/numbers.hpp>
#include <tenon/random.hpp>

namespace tenon::datasets {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <class T>
struct Parsed {
  T value{};
  std::optional<std::string> error;
};

/// from_chars takes no plus sign.
template <class T>
Parsed<T> parse_number(std::string_view text, const char* kind, const char* type) {
  const std::string_view digits = text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
  Parsed<T> parsed;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, parsed.value);
  if (error == std::errc::result_out_of_range && stopped == end) {
    parsed.error = shown(text) + " is out of the range of " + type;
  } else if (error != std::errc() || stopped != end) {
    parsed.error = shown(text) + " is no " + kind;
    if (text.find(',') != std::string_view::npos) *parsed.error += " (the decimal point is \".\")";
  }
  return parsed;
}

/// Without a fraction of zeros, as in 3.0, which whole numbers get from programs that know none.
std::string_view without_zero_fraction(std::string_view text) {
  const std::size_t point = text.find('.');
  const bool zeros = point != std::string_view::npos && point > 0 && point + 1 < text.size() &&
                     text.find_first_not_of('0', point + 1) == std::string_view::npos;
  return zeros ? text.substr(0, point) : text;
}

template <class T>
void put_number(std::byte* row, std::size_t position, T value) {
  std::memcpy(row + position * sizeof(T), &value, sizeof(T));
}

FieldSpec spec_of(const CsvField& field) {
  if (field.type == CsvType::kText) return {field.name, Dtype::kUint8, {Dim()}};
  FieldSpec spec{field.name, field.dtype == CsvFloat::kFloat32 ? Dtype::kFloat32 : Dtype::kFloat64, {}};
  if (field.type == CsvType::kInteger) spec.dtype = Dtype::kInt64;
  if (!field.columns.empty()) spec.shape.emplace_back(static_cast<int64_t>(field.columns.size()));
  return spec;
}

}  // namespace

bool is_missing(const Cell& cell, CsvType type) {
  if (cell.quoted && type == CsvType::kText) return false;
  const std::string_view text = trimmed(cell.raw);
  if (text.size() > 4) return false;
  static constexpr std::array<std::string_view, 7> kWords{"", "na", "n/a", "#n/a", "nan", "null", "?"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [](char written, char wanted) { return lower(written) == wanted; });
  });
}

bool is_number(std::string_view text) { return !parse_number<double>(trimmed(text), "", "").error; }

bool may_be_number(const Cell& cell) {
  return cell.raw.find_first_of("0123456789") != std::string_view::npos || is_number(cell.raw);
}

FieldParser::FieldParser(const CsvField& field) : type_(field.type), spec_(spec_of(field)) {
  if (is_text()) return;
  for (const Dim& dim : spec_.shape) shape_.push_back(dim.size);
  row_bytes_ = static_cast<std::size_t>(elements(shape_)) * size_of(spec_.dtype);
}

std::optional<std::string> FieldParser::parse(std::size_t position, const Cell& cell, std::byte* row) const {
  std::string scratch;
  const std::string_view written = trimmed(cell.value(scratch));
  if (type_ == CsvType::kInteger) {
    const auto [value, error] = parse_number<int64_t>(without_zero_fraction(written), "integer", "int64");
    if (!error) put_number(row, position, value);
    return error;
  }
  const auto [value, error] = parse_number<double>(written, "number", "float64");
  if (error) return error;
  if (!std::isfinite(value)) return shown(written) + " is not finite";
  if (spec_.dtype == Dtype::kFloat64) {
    put_number(row, position, value);
    return std::nullopt;
  }
  const auto rounded = static_cast<float>(value);
  if (!std::isfinite(rounded)) return shown(written) + " is out of the range of float32: give \"dtype\": \"float64\"";
  put_number(row, position, rounded);
  return std::nullopt;
}

void FieldColumn::reserve(std::size_t rows) {
  if (parser_.is_text()) {
    ends_.reserve(rows);
  } else {
    values_.reserve(rows * row_.size());
  }
}

std::optional<std::string> FieldColumn::put(std::size_t position, const Cell& cell) {
  if (!parser_.is_text()) return parser_.parse(position, cell, row_.data());
  std::string scratch;
  text_ = cell.value(scratch);
  return std::nullopt;
}

void FieldColumn::commit() {
  if (parser_.is_text()) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(text_.data());
    values_.insert(values_.end(), bytes, bytes + text_.size());
    ends_.push_back(values_.size());
  } else {
    values_.insert(values_.end(), row_.begin(), row_.end());
  }
}

std::span<const std::byte> FieldColumn::at(int64_t row) const {
  const auto index = static_cast<std::size_t>(row);
  if (!parser_.is_text()) return {values_.data() + index * row_.size(), row_.size()};
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return {values_.data() + begin, ends_[index] - begin};
}

void FieldColumn::read(int64_t row, int position, Sample& out) const {
  const std::span<const std::byte> from = at(row);
  const std::array<int64_t, 1> length{static_cast<int64_t>(from.size())};
  const Array to = out.allocate(position, spec().dtype,
                                parser_.is_text() ? std::span<const int64_t>(length) : std::span(parser_.shape()));
  if (!from.empty()) std::memcpy(to.data, from.data(), from.size());
}

std::optional<std::vector<double>> FieldColumn::numbers() const {
  if (!spec().shape.empty()) return std::nullopt;
  std::vector<double> all;
  all.reserve(values_.size() / row_.size());
  for (std::size_t i = 0; i < values_.size(); i += row_.size()) {
    all.push_back(number_at(values_.data() + i, spec().dtype));
  }
  return all;
}

std::optional<std::vector<int64_t>> FieldColumn::lengths() const {
  if (!parser_.is_text()) return std::nullopt;
  std::vector<int64_t> all;
  all.reserve(ends_.size());
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    all.push_back(static_cast<int64_t>(ends_[i] - (i == 0 ? 0 : ends_[i - 1])));
  }
  return all;
}

uint64_t FieldColumn::hash() const {
  return random_key({content_hash(values_), content_hash(std::as_bytes(std::span(ends_)))});
}

}  // namespace tenon::datasets
