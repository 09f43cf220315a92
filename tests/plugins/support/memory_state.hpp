// State that is saved to and restored from memory.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include <tenon/error.hpp>
#include <tenon/state.hpp>

namespace tenon::test {

/// Saves at first; after restore() it gives back what it holds.
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
  void io(std::string_view name, bool& value) override { visit(name, value); }
  void io(std::string_view name, int64_t& value) override { visit(name, value); }
  void io(std::string_view name, double& value) override { visit(name, value); }
  void io(std::string_view name, std::string& value) override { visit(name, value); }
  void io(std::string_view name, Array& value) override {
    if (saving_) {
      const auto* const begin = static_cast<const std::byte*>(value.data);
      values_[std::string(name)] =
          Saved{value.dtype, {value.shape.begin(), value.shape.end()}, {begin, begin + value.bytes()}};
      return;
    }
    auto& saved = std::get<Saved>(find(name));
    value = {saved.bytes.data(), saved.dtype, saved.shape};
  }

 private:
  template <class T>
  void visit(std::string_view name, T& value) {
    if (saving_) {
      values_[std::string(name)] = value;
    } else {
      value = std::get<T>(find(name));
    }
  }

  Value& find(std::string_view name) {
    const auto found = values_.find(std::string(name));
    if (found == values_.end()) throw Error(ErrorCode::kCheckpoint, std::string(name) + " was never saved");
    return found->second;
  }

  bool saving_ = true;
  std::map<std::string, Value> values_;
};

}  // namespace tenon::test
