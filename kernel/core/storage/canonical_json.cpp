// Canonical text of JSON values, strict parsing.
#include <core/storage/canonical_json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/storage/file.hpp>

namespace tenon::core {
namespace {

constexpr int kDeepest = 64;

/// The same value, sorted by member, with texts in place of non-finite numbers.
template <class AnyJson>
AnyJson writable(const Json& json) {
  if (json.is_object()) {
    AnyJson object = AnyJson::object();
    for (const auto& [key, value] : json.items()) {
      object[key] = writable<AnyJson>(value);
    }
    return object;
  }
  if (json.is_array()) {
    AnyJson array = AnyJson::array();
    for (const Json& element : json) {
      array.push_back(writable<AnyJson>(element));
    }
    return array;
  }
  if (json.is_number_float()) return number_json(json.get<double>());
  return json;
}

std::string member_twice(std::vector<std::string> names) {
  std::ranges::sort(names);
  return fmt::format("the member \"{}\" is there twice", *std::ranges::adjacent_find(names));
}

std::string without_prefix(std::string_view message) {
  const std::size_t start =
      message.find("] ");  // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
  return std::string(start == std::string_view::npos ? message : message.substr(start + 2));
}

}  // namespace

std::string canonical_text(const Json& json) {
  try {
    return writable<nlohmann::json>(json).dump(2) + "\n";
  } catch (const nlohmann::json::type_error&) {
    throw Error(ErrorCode::kStorage, "cannot write JSON with text that is not UTF-8");
  }
}

std::string line_text(const Json& json) {
  return writable<Json>(json).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json number_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  throw Error(ErrorCode::kCheckpoint, fmt::format("expected a number, found {}", json.dump()));
}

template <class AnyJson>
AnyJson parse_strictly(std::string_view text) {
  using Event = typename AnyJson::parse_event_t;
  std::vector<std::vector<std::string>> members;  // of the objects that are open
  const auto check = [&members](int depth, Event event, AnyJson& value) {
    if (depth > kDeepest) throw std::invalid_argument(fmt::format("it is nested deeper than {} levels", kDeepest));
    if (event == Event::key) members.back().push_back(value.template get_ref<const std::string&>());
    if (event == Event::object_start) members.emplace_back();
    if (event == Event::object_end) {
      if (members.back().size() != value.size()) throw std::invalid_argument(member_twice(std::move(members.back())));
      members.pop_back();
    }
    return true;
  };
  try {
    return AnyJson::parse(text, check);
  } catch (const nlohmann::json::exception& error) {
    throw std::invalid_argument(without_prefix(error.what()));
  }
}

template Json parse_strictly<Json>(std::string_view text);
template nlohmann::json parse_strictly<nlohmann::json>(std::string_view text);

Json read_json(const std::filesystem::path& path, ErrorCode code) {
  const std::string text = read_text(path, code);
  try {
    return parse_strictly<Json>(text);
  } catch (const std::invalid_argument& error) {
    throw Error(code, fmt::format("{} is damaged: {}", path.string(), error.what()));
  }
}

}  // namespace tenon::core
