// Collects what components keep over a restart, for a checkpoint; gives it back when one is read.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>
#include <core/storage/checkpoint.hpp>
#include <tenon/component.hpp>
#include <tenon/state.hpp>

namespace tenon::engine {

/// Values by name, copied. Scalars go into state.json, arrays into a safetensors file of the component's own.
class StateSaver final : public StateIo {
 public:
  [[nodiscard]] bool saving() const noexcept override { return true; }
  void io(std::string_view name, bool& value) override { scalar(name, value); }
  void io(std::string_view name, int64_t& value) override { scalar(name, value); }
  void io(std::string_view name, double& value) override;
  void io(std::string_view name, std::string& value) override { scalar(name, value); }
  void io(std::string_view name, Array& value) override;

  [[nodiscard]] const core::Json& scalars() const noexcept { return scalars_; }

  /// Views of copies that live as long as this object.
  [[nodiscard]] std::vector<core::NamedArray> arrays() const;

 private:
  struct Copy {
    std::string name;
    Dtype dtype;
    Shape shape;
    std::vector<std::byte> bytes;
  };

  void scalar(std::string_view name, core::Json value);
  void require_new(std::string_view name) const;

  core::Json scalars_ = core::Json::object();
  std::deque<Copy> arrays_;
};

/// Gives saved values back. \throws Error (kCheckpoint) for a name that was not saved, was asked for twice or has another
/// type.
class StateRestorer final : public StateIo {
 public:
  /// `arrays` may be nullptr when no array was saved; it outlives this object.
  StateRestorer(const core::Json& scalars, const core::Safetensors* arrays) : scalars_(scalars), arrays_(arrays) {}

  [[nodiscard]] bool saving() const noexcept override { return false; }
  void io(std::string_view name, bool& value) override;
  void io(std::string_view name, int64_t& value) override;
  void io(std::string_view name, double& value) override;
  void io(std::string_view name, std::string& value) override;
  void io(std::string_view name, Array& value) override;

  /// \throws Error (kCheckpoint) naming what was saved and nobody took: the component has changed since.
  void require_all_taken() const;

 private:
  void take(std::string_view name);
  [[nodiscard]] const core::Json& find(std::string_view name, const char* type, bool (*fits)(const core::Json&));

  const core::Json& scalars_;
  const core::Safetensors* arrays_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace tenon::engine
