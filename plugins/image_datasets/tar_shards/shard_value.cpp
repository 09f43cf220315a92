// One case a type.
#include <tar_shards/shard_value.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include <csv/problems.hpp>
#include <csv/utf8.hpp>
#include <decode/bytes.hpp>
#include <files/npy_array.hpp>
#include <tar_shards/json_pick.hpp>
#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

[[noreturn]] void fail(const std::string& why) { throw Error(ErrorCode::kData, why); }

/// What the field's file, or the value picked from it, says.
std::string scalar_text(const ShardField& field, std::span<const std::byte> file) {
  if (!field.pick.empty()) return json_pick(text_of(file), field.pick);
  std::string_view text = text_of(file);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) fail("holds nothing");
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

template <class T>
T parsed(const std::string& text, const char* kind) {
  T value{};
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stopped != text.data() + text.size()) {
    fail("holds " + datasets::shown(text) + ", which is no " + kind);
  }
  return value;
}

Dtype dtype_of_npy(const ShardField& field) {
  return dtype_of(tenon_enum_names(field.dtype).names[static_cast<std::size_t>(field.dtype)]).value();
}

/// Axes that are declared free have any length.
bool fits(const Shape& shape, const std::vector<int64_t>& declared) {
  return std::equal(shape.begin(), shape.end(), declared.begin(), declared.end(),
                    [](int64_t size, int64_t wanted) { return wanted == Dim::kUnknown || size == wanted; });
}

void write_text(std::string_view text, int position, Sample& out) {
  const std::array<int64_t, 1> shape{static_cast<int64_t>(text.size())};
  const Array to = out.allocate(position, Dtype::kUint8, shape);
  if (!text.empty()) std::memcpy(to.data, text.data(), text.size());
}

void write_npy(const ShardField& field, std::span<const std::byte> file, int position, Sample& out) {
  datasets::NpyArray array;
  try {
    array = datasets::read_npy(file, "", "");
  } catch (const Error& error) {
    fail(std::string(error.what()).substr(2));  // behind the name, which is empty
  }
  const Shape& shape = array.header.shape;
  const Dtype dtype = dtype_of_npy(field);
  if (array.header.dtype != dtype || !fits(shape, field.shape)) {
    fail("holds " + datasets::npy_text(array.header.dtype, shape) + ", but the pipeline says " +
         datasets::npy_text(dtype, field.shape));
  }
  datasets::copy_rows(array, static_cast<std::byte*>(out.allocate(position, dtype, shape).data));
}

}  // namespace

std::vector<std::string> extensions_of(const ShardField& field) {
  std::vector<std::string> all = field.extensions;
  for (std::string& each : all) {
    if (each.starts_with('.')) each.erase(0, 1);
    for (char& c : each) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (!all.empty()) return all;
  if (!field.pick.empty()) return {"json"};
  switch (field.type) {
    case ShardType::kImage: return {"jpg", "jpeg", "png", "webp", "ppm", "bmp", "tif", "tiff"};
    case ShardType::kInteger: return {"cls"};
    case ShardType::kText: return {"txt"};
    case ShardType::kNpy: return {"npy"};
    case ShardType::kNumber:
    case ShardType::kBytes: break;
  }
  return {};
}

FieldSpec value_field(const ShardField& field) {
  switch (field.type) {
    case ShardType::kInteger: return {field.name, Dtype::kInt64, {}};
    case ShardType::kNumber: return {field.name, Dtype::kFloat32, {}};
    case ShardType::kNpy: return {field.name, dtype_of_npy(field), {field.shape.begin(), field.shape.end()}};
    case ShardType::kImage:
    case ShardType::kText:
    case ShardType::kBytes: break;
  }
  return {field.name, Dtype::kUint8, {Dim()}};
}

int64_t integer_of(const ShardField& field, std::span<const std::byte> file) {
  return parsed<int64_t>(scalar_text(field, file), "integer");
}

double number_of(const ShardField& field, std::span<const std::byte> file) {
  const std::string text = scalar_text(field, file);
  const auto value = parsed<double>(text, "number");
  if (!std::isfinite(static_cast<float>(value))) fail("holds " + datasets::shown(text) + ", beyond float32");
  return static_cast<double>(static_cast<float>(value));
}

void write_value(const ShardField& field, std::span<const std::byte> file, int position, Sample& out) {
  switch (field.type) {
    case ShardType::kInteger:
      out.allocate(position, Dtype::kInt64, {}).as<int64_t>()[0] = integer_of(field, file);
      break;
    case ShardType::kNumber:
      out.allocate(position, Dtype::kFloat32, {}).as<float>()[0] = static_cast<float>(number_of(field, file));
      break;
    case ShardType::kText: {
      std::string_view text = text_of(file);
      std::string picked;
      if (!field.pick.empty()) {
        picked = json_pick(text, field.pick);
        text = picked;
      }
      const std::size_t wrong = datasets::find_no_utf8(text);
      if (wrong != std::string_view::npos) {
        fail("is no UTF-8 from byte " + std::to_string(wrong) + " on: give \"type\": \"bytes\" to take it as it is");
      }
      write_text(text, position, out);
      break;
    }
    case ShardType::kBytes: write_text(text_of(file), position, out); break;
    case ShardType::kNpy: write_npy(field, file, position, out); break;
    case ShardType::kImage: break;
  }
}

}  // namespace tenon::image_datasets
