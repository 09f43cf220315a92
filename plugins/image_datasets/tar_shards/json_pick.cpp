// A walk over the text of RFC 8259 that steps over what is not asked for.
#include <tar_shards/json_pick.hpp>

#include <charconv>
#include <cstdint>
#include <optional>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

constexpr int kDeepest = 100;

void append_utf8(std::string& text, uint32_t point) {
  const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0U | point >> 6U);
    put(0x80U | (point & 0x3FU));
  } else if (point < 0x10000) {
    put(0xE0U | point >> 12U);
    put(0x80U | (point >> 6U & 0x3FU));
    put(0x80U | (point & 0x3FU));
  } else {
    put(0xF0U | point >> 18U);
    put(0x80U | (point >> 12U & 0x3FU));
    put(0x80U | (point >> 6U & 0x3FU));
    put(0x80U | (point & 0x3FU));
  }
}

class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  /// Goes to the value that the path names. False where it is not there.
  bool descend(std::string_view path) {
    while (!path.empty()) {
      const std::size_t point = path.find('.');
      const std::string_view step = path.substr(0, point);
      path = point == std::string_view::npos ? std::string_view() : path.substr(point + 1);
      skip_blanks();
      if (peek() == '{' ? !enter_object(step) : peek() != '[' || !enter_list(step)) return false;
    }
    return true;
  }

  std::string scalar() {
    skip_blanks();
    if (peek() == '"') return string();
    if (peek() == '{' || peek() == '[') throw Error(ErrorCode::kData, "is a list or an object, not one value");
    const std::string_view word = bare_word();
    if (word == "true") return "1";
    if (word == "false") return "0";
    if (word == "null") throw Error(ErrorCode::kData, "is null");
    return std::string(word);
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::kData, "is no JSON from byte " + std::to_string(at_) + " on");
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  void expect(char wanted) {
    skip_blanks();
    if (peek() != wanted) fail();
    ++at_;
  }

  bool enter_object(std::string_view key) {
    expect('{');
    skip_blanks();
    while (peek() != '}') {
      skip_blanks();
      if (peek() != '"') fail();
      const bool found = string() == key;
      expect(':');
      if (found) return true;
      skip(0);
      skip_blanks();
      if (peek() != '}') expect(',');
    }
    return false;
  }

  bool enter_list(std::string_view index) {
    std::size_t left = 0;
    const auto [stopped, error] = std::from_chars(index.data(), index.data() + index.size(), left);
    if (error != std::errc() || stopped != index.data() + index.size()) return false;
    expect('[');
    skip_blanks();
    for (; peek() != ']'; --left) {
      if (left == 0) return true;
      skip(0);
      skip_blanks();
      if (peek() != ']') expect(',');
      skip_blanks();
    }
    return false;
  }

  /// Steps over a value.
  void skip(int depth) {
    if (depth > kDeepest) throw Error(ErrorCode::kData, "is nested too deeply");
    skip_blanks();
    const char first = peek();
    if (first == '"') {
      static_cast<void>(string());
    } else if (first == '{' || first == '[') {
      const char last = first == '{' ? '}' : ']';
      ++at_;
      skip_blanks();
      while (peek() != last) {
        if (first == '{') {
          skip_blanks();
          if (peek() != '"') fail();
          static_cast<void>(string());
          expect(':');
        }
        skip(depth + 1);
        skip_blanks();
        if (peek() != last) expect(',');
      }
      ++at_;
    } else {
      static_cast<void>(bare_word());
    }
  }

  /// A number, true, false or null.
  std::string_view bare_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" \t\r\n,:]}[{\"").find(text_[at_]) == std::string_view::npos) ++at_;
    if (at_ == begin) fail();
    return text_.substr(begin, at_ - begin);
  }

  uint32_t four_digits() {
    uint32_t value = 0;
    if (text_.size() - at_ < 4) fail();
    const char* const begin = text_.data() + at_;
    const auto [stopped, error] = std::from_chars(begin, begin + 4, value, 16);
    if (error != std::errc() || stopped != begin + 4) fail();
    at_ += 4;
    return value;
  }

  std::string string() {
    std::string value;
    ++at_;
    while (peek() != '"') {
      if (at_ >= text_.size()) fail();
      const char c = text_[at_++];
      if (c != '\\') {
        value += c;
        continue;
      }
      const char escaped = peek();
      ++at_;
      switch (escaped) {
        case 'b': value += '\b'; break;
        case 'f': value += '\f'; break;
        case 'n': value += '\n'; break;
        case 'r': value += '\r'; break;
        case 't': value += '\t'; break;
        case 'u': append_utf8(value, code_point()); break;
        case '"':
        case '\\':
        case '/': value += escaped; break;
        default: fail();
      }
    }
    ++at_;
    return value;
  }

  /// Behind \u: one of four digits, or a pair of surrogates.
  uint32_t code_point() {
    const uint32_t high = four_digits();
    if (high < 0xD800 || high > 0xDFFF) return high;
    if (high > 0xDBFF || !text_.substr(at_).starts_with("\\u")) fail();
    at_ += 2;
    const uint32_t low = four_digits();
    if (low < 0xDC00 || low > 0xDFFF) fail();
    return 0x10000 + ((high - 0xD800) << 10U) + (low - 0xDC00);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string json_pick(std::string_view json, std::string_view path) {
  Walk walk(json);
  if (!walk.descend(path)) throw Error(ErrorCode::kData, "has no value \"" + std::string(path) + "\"");
  try {
    return walk.scalar();
  } catch (const Error& error) {
    throw Error(error.code(), "its \"" + std::string(path) + "\" " + error.what());
  }
}

}  // namespace tenon::image_datasets
