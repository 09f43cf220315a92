// One wording for all of them.
#include <csv/rules.hpp>

#include <string_view>

#include <csv/problems.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {

void require_delimiter(const std::string& delimiter) {
  if (delimiter.size() == 1 && std::string_view("\"\r\n").find(delimiter) == std::string_view::npos &&
      static_cast<unsigned char>(delimiter.front()) < 0x80) {
    return;
  }
  throw Error(ErrorCode::kConfig,
              shown(delimiter) + " separates no cells: give one ASCII character, such as \",\" or \";\"", "/delimiter");
}

void require_one_way(const std::string& column, const std::vector<std::string>& columns, bool texts,
                     const std::string& pointer) {
  if (columns.empty() || (column.empty() && !texts)) return;
  throw Error(ErrorCode::kConfig,
              column.empty() ? "texts make no vector: give each column of texts a field of its own"
                             : "give either \"column\", for one value, or \"columns\", for a vector",
              pointer + "/columns");
}

std::vector<std::string> left_out(const std::filesystem::path& path, const CsvRows& rows) {
  if (rows.dropped == 0) return {};
  return {path.string() + ": " + std::to_string(rows.dropped) + " of " + std::to_string(rows.kept + rows.dropped) +
          (rows.dropped == 1 ? " rows lacks a value and was" : " rows lack a value and were") +
          " left out (\"missing\": \"skip\")"};
}

}  // namespace tenon::datasets
