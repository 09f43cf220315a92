// A hashed tree of what belongs to each JSON pointer: places of values, origins of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <core/json/pointer.hpp>

namespace tenon::core {

/// Maps JSON pointers to values of T; the root is always there. Look-up is linear in the number of segments, memory in
/// the number of entries, whatever the depth. References stay valid until the next insertion.
template <typename T>
class PointerTable {
 public:
  using Id = std::uint32_t;
  static constexpr Id kRoot = 0;

  PointerTable() : values_(1) {}

  [[nodiscard]] T& operator[](Id id) { return values_[id]; }
  [[nodiscard]] const T& operator[](Id id) const { return values_[id]; }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

  /// Adds a child, or sets the value of the one that is there.
  Id put(Id parent, std::string_view key, T value) {
    if (const std::optional<Id> known = child(parent, key)) {
      values_[*known] = std::move(value);
      return *known;
    }
    const Id id = static_cast<Id>(values_.size());
    values_.push_back(std::move(value));
    ids_.emplace(Edge{parent, std::string(key)}, id);
    return id;
  }

  /// Adds an entry that no pointer reaches, to hang rejected values below.
  Id put_detached(T value) {
    values_.push_back(std::move(value));
    return static_cast<Id>(values_.size() - 1);
  }

  [[nodiscard]] std::optional<Id> child(Id parent, std::string_view key) const {
    const auto found = ids_.find(EdgeView{parent, key});
    return found == ids_.end() ? std::nullopt : std::optional<Id>(found->second);
  }

  /// The entry of exactly this pointer, or null.
  [[nodiscard]] const T* find(std::string_view pointer) const {
    const auto [id, exact] = walk(pointer);
    return exact ? &values_[id] : nullptr;
  }

  /// The entry of this pointer or of its nearest ancestor that has one; the second is true for the pointer itself.
  [[nodiscard]] std::pair<const T*, bool> find_nearest(std::string_view pointer) const {
    const auto [id, exact] = walk(pointer);
    return {&values_[id], exact};
  }

  /// Sets the entry of a pointer; ancestors that are missing get the same value.
  void put(std::string_view pointer, const T& value) {
    Id id = kRoot;
    for (const std::string& key : split_pointer(pointer)) {
      const std::optional<Id> next = child(id, key);
      id = next ? *next : put(id, key, value);
    }
    values_[id] = value;
  }

 private:
  struct Edge {
    Id parent;
    std::string key;
  };
  struct EdgeView {
    Id parent;
    std::string_view key;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const EdgeView& edge) const noexcept {
      return std::hash<std::string_view>()(edge.key) ^ (std::size_t{edge.parent} * 0x9E3779B97F4A7C15ULL);
    }
    std::size_t operator()(const Edge& edge) const noexcept { return (*this)(EdgeView{edge.parent, edge.key}); }
  };
  struct Equal {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const noexcept {
      return a.parent == b.parent && a.key == b.key;
    }
  };

  [[nodiscard]] std::pair<Id, bool> walk(std::string_view pointer) const {
    Id id = kRoot;
    while (!pointer.empty()) {
      pointer.remove_prefix(1);
      const std::string_view segment = pointer.substr(0, pointer.find('/'));
      pointer.remove_prefix(segment.size());
      const bool escaped = segment.find('~') != std::string_view::npos;
      const std::optional<Id> next = escaped ? child(id, unescape_segment(segment)) : child(id, segment);
      if (!next) return {id, false};
      id = *next;
    }
    return {id, true};
  }

  std::vector<T> values_;
  std::unordered_map<Edge, Id, Hash, Equal> ids_;
};

}  // namespace tenon::core
