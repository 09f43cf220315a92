// A reader of the one Python dictionary that a header is.
#include <files/npy_header.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void fail(const std::string& why) { throw Error(ErrorCode::kData, why); }

/// Takes {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } apart: key → the text of its value.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : text_(text) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      values_[key] = value();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
  }

  [[nodiscard]] std::string_view at(std::string_view key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) fail("its header is damaged: it has no '" + std::string(key) + "'");
    return found->second;
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }

  bool accept(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail("its header is damaged");
  }

  std::string_view quoted() {
    expect('\'');
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail("its header is damaged");
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + 1;
    return inside;
  }

  /// Up to the comma or brace behind it, brackets and quotes being balanced.
  std::string_view value() {
    skip_blanks();
    const std::size_t begin = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (depth == 0 && (c == ',' || c == '}')) break;
      if (c == '\'') {
        static_cast<void>(quoted());
        continue;
      }
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
      ++at_;
    }
    std::string_view found = text_.substr(begin, at_ - begin);
    while (!found.empty() && found.back() == ' ') found.remove_suffix(1);
    return found;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::map<std::string_view, std::string_view> values_;
};

std::optional<Dtype> dtype_of_code(std::string_view code) {
  static const std::map<std::string_view, Dtype> kCodes{
      {"b1", Dtype::kBool},    {"u1", Dtype::kUint8},   {"i1", Dtype::kInt8},
      {"i2", Dtype::kInt16},   {"i4", Dtype::kInt32},   {"i8", Dtype::kInt64},
      {"f2", Dtype::kFloat16}, {"f4", Dtype::kFloat32}, {"f8", Dtype::kFloat64}};
  const auto found = kCodes.find(code);
  return found == kCodes.end() ? std::nullopt : std::optional(found->second);
}

Dtype dtype_from(const NpyLayout& layout) {
  if (const std::optional<Dtype> dtype = dtype_of_code(layout.code)) return *dtype;
  fail("holds numbers of type " + layout.descr +
       ", which fields do not have: save it as bool, uint8, int8 to int64 or float16 to float64, such as "
       "a.astype(\"float32\")");
}

std::string code_from(std::string_view descr) {
  const std::string shown(descr);
  if (!descr.starts_with('\'')) fail("holds a structured array " + shown + ": save each of its fields on its own");
  if (descr.size() < 4 || !descr.ends_with('\'')) fail("its header is damaged: type " + shown);
  const char order = descr[1];
  const std::string_view code = descr.substr(2, descr.size() - 3);
  if (code.starts_with('O')) {
    fail("holds pickled Python objects, which are code to be run and are not read: save an array of numbers");
  }
  if (order == '>') {
    fail("holds big-endian numbers " + shown + ": save it as a.astype(a.dtype.newbyteorder(\"<\"))");
  }
  if (order != '<' && order != '|' && order != '=') fail("its header is damaged: type " + shown);
  return std::string(code);
}

Shape shape_from(std::string_view tuple) {
  const auto damaged = [&] { fail("its header is damaged: shape " + std::string(tuple)); };
  if (tuple.size() < 2 || tuple.front() != '(' || tuple.back() != ')') damaged();
  Shape shape;
  const char* at = tuple.data() + 1;
  const char* const end = tuple.data() + tuple.size() - 1;
  const auto skip_blanks = [&] {
    while (at != end && *at == ' ') ++at;
  };
  for (skip_blanks(); at != end; skip_blanks()) {
    int64_t axis = -1;
    const auto [next, error] = std::from_chars(at, end, axis);
    if (error != std::errc() || axis < 0) damaged();
    shape.push_back(axis);
    at = next;
    skip_blanks();
    if (at != end && *at++ != ',') damaged();
  }
  return shape;
}

bool flag_from(std::string_view text) {
  if (text != "True" && text != "False") fail("its header is damaged: fortran_order " + std::string(text));
  return text == "True";
}

}  // namespace

NpyHeader parse_npy_header(std::string_view file) {
  NpyLayout layout = parse_npy_layout(file);
  return {dtype_from(layout), layout.fortran_order, std::move(layout.shape), layout.data_offset};
}

NpyLayout parse_npy_layout(std::string_view file) {
  if (!file.starts_with(kMagic)) {
    fail(file.empty() ? "is no .npy file: it is empty" : "is no .npy file: it does not begin with \\x93NUMPY");
  }
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(file[at])); };
  constexpr std::size_t kShort = 10;
  constexpr std::size_t kLong = 12;
  if (file.size() < kLong) fail("is cut off within its header");
  const std::size_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) {
    fail("is of format " + std::to_string(version) + "." + std::to_string(byte(7)) +
         ", but 1.0, 2.0 and 3.0 are known");
  }
  NpyLayout header;
  const std::size_t begin = version == 1 ? kShort : kLong;
  const std::size_t length = byte(8) + (byte(9) << 8U) + (version == 1 ? 0 : (byte(10) << 16U) + (byte(11) << 24U));
  header.data_offset = begin + length;
  if (file.size() < header.data_offset) fail("is cut off within its header");
  const Dictionary values(file.substr(begin, length));
  header.descr = values.at("descr");
  header.code = code_from(header.descr);
  header.fortran_order = flag_from(values.at("fortran_order"));
  header.shape = shape_from(values.at("shape"));
  return header;
}

}  // namespace tenon::datasets
