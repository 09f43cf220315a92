// Both ways of StateIo over JSON and safetensors.
#include <engine/state_saver.hpp>

#include <cstring>

#include <fmt/format.h>

#include <core/storage/canonical_json.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {

void StateSaver::require_new(std::string_view name) const {
  bool taken = scalars_.contains(name);
  for (const Copy& copy : arrays_) taken = taken || copy.name == name;
  if (taken) throw Error(ErrorCode::kPlugin, fmt::format("saves two values under the name \"{}\"", name));
}

void StateSaver::scalar(std::string_view name, core::Json value) {
  require_new(name);
  scalars_[std::string(name)] = std::move(value);
}

void StateSaver::io(std::string_view name, double& value) { scalar(name, core::number_json(value)); }

void StateSaver::io(std::string_view name, Array& value) {
  require_new(name);
  Copy copy{std::string(name), value.dtype, Shape(value.shape.begin(), value.shape.end()), {}};
  copy.bytes.resize(value.bytes());
  if (!copy.bytes.empty()) std::memcpy(copy.bytes.data(), value.data, copy.bytes.size());
  arrays_.push_back(std::move(copy));
}

std::vector<core::NamedArray> StateSaver::arrays() const {
  std::vector<core::NamedArray> views;
  for (const Copy& copy : arrays_) {
    // The writer only reads; Array has one type for both directions.
    views.push_back({copy.name, Array{const_cast<std::byte*>(copy.bytes.data()), copy.dtype, copy.shape}});
  }
  return views;
}

void StateRestorer::take(std::string_view name) {
  if (!taken_.emplace(name).second) {
    throw Error(ErrorCode::kPlugin, fmt::format("restores two values under the name \"{}\"", name));
  }
}

void StateRestorer::require_all_taken() const {
  std::vector<std::string_view> left;
  for (const auto& [name, value] : scalars_.items()) {
    if (!taken_.contains(name)) left.push_back(name);
  }
  if (arrays_ != nullptr) {
    for (const core::Safetensors::Tensor& tensor : arrays_->tensors()) {
      if (!taken_.contains(tensor.name)) left.push_back(tensor.name);
    }
  }
  if (left.empty()) return;
  throw Error(
      ErrorCode::kCheckpoint,
      fmt::format("the checkpoint holds \"{}\"{}, which it does not take back: it was written by another version",
                  left.front(), left.size() == 1 ? "" : fmt::format(" and {} more", left.size() - 1)));
}

const core::Json& StateRestorer::find(std::string_view name, const char* type, bool (*fits)(const core::Json&)) {
  take(name);
  const auto found = scalars_.find(name);
  if (found == scalars_.end()) {
    throw Error(ErrorCode::kCheckpoint, fmt::format("the checkpoint holds no value \"{}\"", name));
  }
  if (!fits(*found)) {
    throw Error(ErrorCode::kCheckpoint,
                fmt::format("the checkpoint's value \"{}\" is {}, not {}", name, found->type_name(), type));
  }
  return *found;
}

void StateRestorer::io(std::string_view name, bool& value) {
  value = find(name, "a boolean", [](const core::Json& json) { return json.is_boolean(); }).get<bool>();
}

void StateRestorer::io(std::string_view name, int64_t& value) {
  value = find(name, "an integer", [](const core::Json& json) { return json.is_number_integer(); }).get<int64_t>();
}

void StateRestorer::io(std::string_view name, double& value) {
  value = core::number_of(find(name, "a number", [](const core::Json& json) {
    return json.is_number() || json.is_string();  // text stands for what is not finite
  }));
}

void StateRestorer::io(std::string_view name, std::string& value) {
  value = find(name, "text", [](const core::Json& json) { return json.is_string(); }).get<std::string>();
}

void StateRestorer::io(std::string_view name, Array& value) {
  take(name);
  const core::Safetensors::Tensor* const found = arrays_ == nullptr ? nullptr : arrays_->find(name);
  if (found == nullptr) {
    throw Error(ErrorCode::kCheckpoint, fmt::format("the checkpoint holds no array \"{}\"", name));
  }
  value = found->array;
}

}  // namespace tenon::engine
