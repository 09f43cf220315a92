// Bytes first; only what differs is understood.
#include <core/storage/checkpoint_compare.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/elements.hpp>
#include <core/storage/file.hpp>
#include <core/storage/safetensors.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

using Differences = std::vector<CheckpointDifference>;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    names.insert(entries->path().filename().string());
  }
  if (error) {
    throw Error(ErrorCode::kCheckpoint,
                fmt::format("cannot read the checkpoint {}: {}", folder.string(), error.message()));
  }
  return names;
}

int rank_of(std::string_view name) {
  if (name == "manifest.json") return 5;
  if (name == "state.json") return 4;
  constexpr std::array<std::string_view, 3> kFirst{"model.", "optimizer.", "state."};
  for (std::size_t i = 0; i < kFirst.size(); ++i) {
    if (name.starts_with(kFirst[i])) return static_cast<int>(i);
  }
  return 3;
}

/// Position of the first byte that differs, or nothing. \throws Error (kCheckpoint).
std::optional<uint64_t> first_difference(const fs::path& a, const fs::path& b, uint64_t& bytes) {
  const OpenedFile one = open_for_reading(a, ErrorCode::kCheckpoint);
  const OpenedFile other = open_for_reading(b, ErrorCode::kCheckpoint);
  bytes += one.size;
  const uint64_t common = std::min(one.size, other.size);
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  std::vector<std::byte> left(kPiece);
  std::vector<std::byte> right(kPiece);
  for (uint64_t offset = 0; offset < common; offset += kPiece) {
    const auto length = static_cast<std::size_t>(std::min<uint64_t>(kPiece, common - offset));
    read_at(one.file, offset, std::span(left).first(length), a, ErrorCode::kCheckpoint);
    read_at(other.file, offset, std::span(right).first(length), b, ErrorCode::kCheckpoint);
    const auto end = left.begin() + static_cast<std::ptrdiff_t>(length);
    const auto place = std::mismatch(left.begin(), end, right.begin());
    if (place.first != end) return offset + static_cast<uint64_t>(place.first - left.begin());
  }
  return one.size == other.size ? std::nullopt : std::optional(common);
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double distance = std::abs(a - b);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

/// Elements count as different when their bytes differ: 0 and -0 do.
std::optional<CheckpointDifference> compare_arrays(const std::string& file, const std::string& name, const Array& a,
                                                   const Array& b) {
  if (a.dtype != b.dtype || !std::ranges::equal(a.shape, b.shape)) {
    return CheckpointDifference{file, name, fmt::format("{} and {}", type_text(a), type_text(b)), 0};
  }
  const auto* const left = static_cast<const std::byte*>(a.data);
  const auto* const right = static_cast<const std::byte*>(b.data);
  if (a.bytes() == 0 || std::memcmp(left, right, a.bytes()) == 0) return std::nullopt;
  const std::size_t size = size_of(a.dtype);
  int64_t differing = 0;
  int64_t first = 0;
  double most = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    const std::size_t offset = static_cast<std::size_t>(i) * size;
    if (std::memcmp(left + offset, right + offset, size) == 0) continue;
    if (differing++ == 0) first = i;
    most = std::max(most, distance(element_value(a, i), element_value(b, i)));
  }
  return CheckpointDifference{
      file, name,
      fmt::format("{} of {} elements differ, first at {}: {} and {}, by at most {:g}", differing, a.elements(),
                  place_text(a.shape, first), element_text(a, first), element_text(b, first), most),
      most};
}

Differences compare_tensors(const std::string& file, const fs::path& a, const fs::path& b) {
  const Safetensors left = Safetensors::read(a);
  const Safetensors right = Safetensors::read(b);
  std::set<std::string> names;
  for (const Safetensors* const each : {&left, &right}) {
    for (const Safetensors::Tensor& tensor : each->tensors()) names.insert(tensor.name);
  }
  const auto own = [](const Safetensors& all, const std::string& name) {
    const auto found = std::ranges::find(all.tensors(), name, &Safetensors::Tensor::name);
    return found == all.tensors().end() ? nullptr : &*found;
  };
  Differences differences;
  for (const std::string& name : names) {
    const Safetensors::Tensor* const one = own(left, name);
    const Safetensors::Tensor* const other = own(right, name);
    if (one == nullptr || other == nullptr) {
      differences.push_back({file, name, one == nullptr ? "missing in A" : "missing in B", 0});
    } else if (auto difference = compare_arrays(file, name, one->array, other->array)) {
      differences.push_back(std::move(*difference));
    }
  }
  std::set<std::string> keys;
  for (const Safetensors* const each : {&left, &right}) {
    for (const auto& [key, value] : each->metadata()) keys.insert(key);
  }
  for (const std::string& key : keys) {
    const auto one = left.metadata().find(key);
    const auto other = right.metadata().find(key);
    const std::string entry = "__metadata__/" + key;
    if (one == left.metadata().end() || other == right.metadata().end()) {
      differences.push_back({file, entry, one == left.metadata().end() ? "missing in A" : "missing in B", 0});
    } else if (one->second != other->second) {
      differences.push_back({file, entry, fmt::format("\"{}\" and \"{}\"", one->second, other->second), 0});
    }
  }
  return differences;
}

void compare_values(const std::string& file, const std::string& pointer, const Json* a, const Json* b,
                    Differences& differences) {
  if (a == nullptr || b == nullptr) {
    differences.push_back({file, pointer, a == nullptr ? "missing in A" : "missing in B", 0});
    return;
  }
  if (*a == *b) return;
  if (a->is_object() && b->is_object()) {
    std::set<std::string> keys;
    for (const Json* const object : {a, b}) {
      for (const auto& [key, value] : object->items()) keys.insert(key);
    }
    for (const std::string& key : keys) {
      compare_values(file, child_pointer(pointer, key), find_member(*a, key), find_member(*b, key), differences);
    }
    return;
  }
  if (a->is_array() && b->is_array()) {
    for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
      compare_values(file, child_pointer(pointer, i), i < a->size() ? &(*a)[i] : nullptr,
                     i < b->size() ? &(*b)[i] : nullptr, differences);
    }
    return;
  }
  const bool numbers = a->is_number() && b->is_number();
  differences.push_back({file, pointer, fmt::format("{} and {}", line_text(*a), line_text(*b)),
                         numbers ? distance(a->get<double>(), b->get<double>()) : 0});
}

/// What differs in two files whose bytes do.
Differences look_inside(const std::string& file, const fs::path& a, const fs::path& b, uint64_t place) {
  Differences differences;
  const std::string extension = fs::path(file).extension().string();
  if (extension == ".safetensors") {
    differences = compare_tensors(file, a, b);
  } else if (extension == ".json") {
    const Json left = read_json(a);
    const Json right = read_json(b);
    compare_values(file, "", &left, &right, differences);
  } else {
    return {{file, "", fmt::format("bytes differ, first at byte {}", place), 0}};
  }
  if (differences.empty()) differences.push_back({file, "", "bytes differ, content is equal", 0});
  return differences;
}

}  // namespace

Comparison compare_checkpoints(const fs::path& a, const fs::path& b) {
  const std::set<std::string> in_a = names_in(a);
  const std::set<std::string> in_b = names_in(b);
  std::set<std::string> all = in_a;
  all.insert(in_b.begin(), in_b.end());
  std::vector<std::string> order(all.begin(), all.end());
  std::ranges::stable_sort(order, {}, rank_of);

  Comparison comparison;
  for (const std::string& file : order) {
    if (!in_a.contains(file) || !in_b.contains(file)) {
      comparison.differences.push_back({file, "", in_a.contains(file) ? "missing in B" : "missing in A", 0});
      continue;
    }
    ++comparison.files;
    try {
      const std::optional<uint64_t> place = first_difference(a / file, b / file, comparison.bytes);
      if (!place) continue;
      for (CheckpointDifference& difference : look_inside(file, a / file, b / file, *place)) {
        comparison.differences.push_back(std::move(difference));
      }
    } catch (const Error& error) {
      comparison.differences.push_back({file, "", error.what(), 0});
    }
  }
  return comparison;
}

}  // namespace tenon::core
