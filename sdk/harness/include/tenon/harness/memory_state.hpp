// State that is saved to and restored from memory.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <tenon/component.hpp>
#include <tenon/state.hpp>

namespace tenon::harness {

/// Saves at first; after restore() it gives back what it holds, which a test may have changed. Its errors are those
/// that a checkpoint gives.
class MemoryState final : public StateIo {
 public:
  struct Saved {
    Dtype dtype = Dtype::kUint8;
    Shape shape;
    std::vector<std::byte> bytes;
    friend bool operator==(const Saved&, const Saved&) = default;
  };
  using Value = std::variant<bool, int64_t, double, std::string, Saved>;

  void restore() { saving_ = false; }
  [[nodiscard]] const std::map<std::string, Value>& values() const { return values_; }
  [[nodiscard]] std::map<std::string, Value>& values() { return values_; }

  [[nodiscard]] bool saving() const noexcept override { return saving_; }
  void io(std::string_view name, bool& value) override;
  void io(std::string_view name, int64_t& value) override;
  void io(std::string_view name, double& value) override;
  void io(std::string_view name, std::string& value) override;
  void io(std::string_view name, Array& value) override;

 private:
  template <class T>
  void visit(std::string_view name, T& value);
  void put(std::string_view name, Value value);
  template <class T>
  [[nodiscard]] T& find(std::string_view name);

  bool saving_ = true;
  std::map<std::string, Value> values_;
};

/// All that the component keeps over a restart. \throws Error (kPlugin) when it gives one name to two values.
[[nodiscard]] MemoryState save(Component& component);

/// Puts saved state into a component: a new one of the same parameters, attached, built or opened like the first.
/// \throws Error (kCheckpoint) as the component does.
void restore(Component& component, MemoryState state);

}  // namespace tenon::harness
