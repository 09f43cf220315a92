// Values by name, with the errors of a checkpoint.
#include <tenon/harness/memory_state.hpp>

#include <utility>

#include <tenon/error.hpp>

namespace tenon::harness {

void MemoryState::put(std::string_view name, Value value) {
  if (!values_.emplace(name, std::move(value)).second) {
    throw Error(ErrorCode::kPlugin, "the state has two values of the name \"" + std::string(name) + "\"");
  }
}

template <class T>
T& MemoryState::find(std::string_view name) {
  const auto found = values_.find(std::string(name));
  if (found == values_.end()) {
    throw Error(ErrorCode::kCheckpoint, "the state has no \"" + std::string(name) + "\": it was never saved");
  }
  if (!std::holds_alternative<T>(found->second)) {
    throw Error(ErrorCode::kCheckpoint, "\"" + std::string(name) + "\" was saved as a value of another type");
  }
  return std::get<T>(found->second);
}

template <class T>
void MemoryState::visit(std::string_view name, T& value) {
  if (saving_) {
    put(name, value);
  } else {
    value = find<T>(name);
  }
}

void MemoryState::io(std::string_view name, bool& value) { visit(name, value); }
void MemoryState::io(std::string_view name, int64_t& value) { visit(name, value); }
void MemoryState::io(std::string_view name, double& value) { visit(name, value); }
void MemoryState::io(std::string_view name, std::string& value) { visit(name, value); }

void MemoryState::io(std::string_view name, Array& value) {
  if (saving_) {
    const auto* const begin = static_cast<const std::byte*>(value.data);
    put(name, Saved{value.dtype, {value.shape.begin(), value.shape.end()}, {begin, begin + value.bytes()}});
    return;
  }
  auto& saved = find<Saved>(name);
  value = {saved.bytes.data(), saved.dtype, saved.shape};
}

MemoryState save(Component& component) {
  MemoryState state;
  component.state(state);
  return state;
}

void restore(Component& component, MemoryState state) {
  state.restore();
  component.state(state);
}

}  // namespace tenon::harness
