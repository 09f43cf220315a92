// One reading of a JSON text: values, members, elements, and what stands between them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <core/json/brackets.hpp>
#include <core/json/cursor.hpp>
#include <core/json/quotes.hpp>
#include <core/json/reader.hpp>
#include <core/json/scalars.hpp>
#include <core/json/syntax_errors.hpp>

namespace tenon::core {

class StructureReader {
 public:
  StructureReader(const SourcePtr& source, Diagnostics& diagnostics, const ReadOptions& options, BracketPolicy policy);
  StructureReader(const StructureReader&) = delete;
  StructureReader& operator=(const StructureReader&) = delete;

  /// Reads the whole text. To be called once.
  [[nodiscard]] Document read();

  /// How little of the text was understood: errors, and one more where reading stopped early.
  [[nodiscard]] std::size_t badness() const noexcept { return errors_.count() + (document_complete_ ? 0 : 1); }

  /// Another policy may understand the text better.
  [[nodiscard]] bool depends_on_policy() const noexcept { return brackets_.at_fault(); }

 private:
  void empty();

  // Values (structure.cpp). `read_value` puts the value at the present place into `out` and its place into the table;
  // false when there is none, and then the text has been skipped to where reading can go on.
  bool read_value(Json& out, PlaceTable::Id id);
  void read_string(std::optional<Json>& value);
  void read_bare(std::optional<Json>& value);
  [[nodiscard]] bool replaces_quote(StringRole role) const;
  std::string read_unopened_string(StringRole role);
  bool opens_object();
  void read_bracket(Json& value, PlaceTable::Id id);
  void read_members(Json& object, PlaceTable::Id id);
  void read_member(Json& object, PlaceTable::Id id);
  void read_elements(Json& array, PlaceTable::Id id);
  void read_element(Json& array, PlaceTable::Id id);
  void read_unopened(Json& value, PlaceTable::Id id, std::size_t key_begin, const std::string& key);

  // Keys and their colons (keys.cpp). Without a key, what stands there is skipped.
  std::optional<std::string> read_key();
  std::optional<std::string> read_quoted_key();
  std::optional<std::string> read_bare_key();
  bool read_colon(const Span& key, const std::string& name);
  void skip_repeated_colon();

  // Between values (separators.cpp). `after_value` takes the comma or reports what is there; false once the object or
  // list is over. `closes` is asked at a closing bracket.
  bool after_value(char closing);
  void behind_colon();
  void stray_text(std::size_t value_end);
  bool closes(char expected);
  bool skips_bracket();
  bool ends_list_before_key(Json& array, std::size_t value_begin, std::size_t before);
  void unexpected(std::string_view wanted);
  void trailing(bool object);
  void truncated();

  /// Reports about the member or element that was read last.
  void report_last(std::size_t begin, std::size_t end, SyntaxError error);
  void report_quote(std::size_t begin, std::size_t end, const MendedString& mended);

  [[nodiscard]] bool done() const noexcept { return cursor_.at_end() || errors_.stopped(); }
  [[nodiscard]] char peek() const noexcept { return cursor_.peek(); }

  std::string_view text_;
  Document document_;
  SyntaxErrors errors_;
  Cursor cursor_;
  Brackets brackets_;
  std::size_t begin_;
  std::string last_;          // Key or index of the member or element that was read last.
  std::size_t value_end_;     // Behind the value that was read last.
  bool comma_taken_ = false;  // By an inner object or list that was not closed.
  bool document_complete_ = true;
};

}  // namespace tenon::core
