// A pipeline that is right, taken apart for mutation.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <core/graph/fixture.hpp>
#include <core/json/json.hpp>
#include <core/json/pointer.hpp>
#include <core/json/reader.hpp>

namespace tenon::core::testing {

/// A key or a scalar of the text, without its quotes.
struct Token {
  std::string pointer;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_key = false;
  bool is_string = false;  ///< A key or a text: quotes stand around it.
};

/// A member of an object: all of `"key": value`.
struct Member {
  std::string pointer;
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Base {
 public:
  /// Takes the file apart; `is_right` is false when it alone has errors over the test's components.
  explicit Base(const std::filesystem::path& path);

  [[nodiscard]] bool is_right() const noexcept { return right_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const Json& value() const noexcept { return document_.value; }
  [[nodiscard]] const std::vector<Token>& tokens() const noexcept { return tokens_; }
  [[nodiscard]] const std::vector<Member>& members() const noexcept { return members_; }
  [[nodiscard]] std::string word(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }

  /// The kind of a node's component, of a call that of the node which it calls; empty where the file does not say.
  [[nodiscard]] std::string kind_of(const std::string& node) const;

  /// Builds a text in the place of the file.
  [[nodiscard]] Built build(const std::string& text) const;

  /// The meaning of the pipeline with all its defaults.
  [[nodiscard]] const std::string& resolved() const noexcept { return resolved_; }

  /// Whether the place of a key or a text takes every other in the part that holds the byte `at`, before or behind its
  /// dot or its variable: found by putting a nonsensical one there.
  [[nodiscard]] bool is_free(const Token& token, std::size_t at);

  /// Whether another node or section names this node or validation.
  [[nodiscard]] bool is_referred_to(const std::string& node) const;

  /// Lines of `text`, a mutant, that name a node, field or metric, or a variable that stands for it.
  [[nodiscard]] std::vector<std::size_t> lines_of_uses(const std::string& text, const std::string& name) const;

  /// Lines of `text` (from 1) that name `word` between quotes, before or behind a dot or a colon there.
  [[nodiscard]] static std::vector<std::size_t> lines_naming(const std::string& text, const std::string& word);

 private:
  void collect(const Json& value, const std::string& pointer);

  std::filesystem::path path_;
  std::string name_;
  std::string text_;
  Document document_;
  std::vector<Token> tokens_;
  std::vector<Member> members_;
  std::map<std::size_t, bool> free_;  // By offset.
  std::string resolved_;
  bool right_ = false;
};

/// A pipeline as text, where two quantities that are the same are spelt the same.
[[nodiscard]] std::string meaning(const Json& pipeline);

/// All pipelines that are shipped, and those of tests/pipelines/good, as far as they are right alone.
[[nodiscard]] std::vector<Base>& bases();

}  // namespace tenon::core::testing
