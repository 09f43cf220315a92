// Parameters, declared once: parsing, defaults, the JSON Schema, reference pages and error texts all come from here.
//
//   struct CutoutParams {
//     int64_t size = 8;                                       // the default is the member's own initial value
//     TENON_PARAMS(CutoutParams, tenon::field(&CutoutParams::size, "size", "Side of the masked square, pixels").min(1))
//   };
//
// A member may be bool, int64_t, double, std::string, std::filesystem::path, an enum with TENON_ENUM, Span, Time,
// Bytes, Secret, Nested, a struct with TENON_PARAMS of its own, a std::vector or a std::map<std::string, T> of any of
// these, or std::optional<T>, which reads `T | "auto"` and is empty for "auto" (or for the field's own word). Text is
// parsed in libtenon_api: this header pulls in no JSON library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tenon/quantity.hpp>
#include <tenon/secret.hpp>

namespace tenon {

class Fields;

/// A component as a parameter: `{ "use": "transform:cutout", "with": { … } }`, declared by Field::component. The host
/// makes it and hands it over by the ability Nesting (tenon/components/nesting.hpp); these are the pipeline's words.
struct Nested {
  std::string use;          ///< "transform:cutout"; empty where there is no default component.
  std::string with = "{}";  ///< Its parameters as JSON text, defaults resolved where the host made the outer one.
};

/// Names of an enum's values, in the order of its enumerators from 0 on. See TENON_ENUM.
struct EnumNames {
  std::vector<std::string> names;
};

namespace detail {

struct Slot;

/// A list member, seen without its element type.
struct ListSlot {
  std::function<Slot(void*)> append;  // adds a default element and gives its slot
  std::function<void(void*)> clear;
  std::function<std::vector<Slot>(void*)> elements;
  void* list = nullptr;
};

/// A map member with names as keys, seen without its element type.
struct MapSlot {
  std::function<Slot(void*, const std::string&)> insert;
  std::function<void(void*)> clear;
  std::function<std::vector<std::pair<std::string, Slot>>(void*)> entries;
  void* map = nullptr;
};

struct EnumSlot {
  std::function<int64_t()> get;
  std::function<void(int64_t)> set;
  const EnumNames* names = nullptr;
};

struct StructSlot {
  void* object = nullptr;
  const Fields* fields = nullptr;
};

/// Where a value is written to and read from, by type.
struct Slot {
  std::variant<bool*, int64_t*, double*, std::string*, std::filesystem::path*, Span*, Time*, Bytes*, Secret*, Nested*,
               EnumSlot, StructSlot, ListSlot, MapSlot>
      target;
};

template <class T>
concept HasFields = requires {
  T::tenon_fields();
};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
Slot slot_of(T& member);

template <class T>
ListSlot list_slot(std::vector<T>& list) {
  static_assert(!std::is_same_v<T, bool>, "a list of bool has no addressable elements: use int64_t or an enum");
  ListSlot slot;
  slot.list = &list;
  slot.append = [](void* any) { return slot_of(static_cast<std::vector<T>*>(any)->emplace_back()); };
  slot.clear = [](void* any) { static_cast<std::vector<T>*>(any)->clear(); };
  slot.elements = [](void* any) {
    std::vector<Slot> slots;
    for (T& element : *static_cast<std::vector<T>*>(any)) {
      slots.push_back(slot_of(element));
    }
    return slots;
  };
  return slot;
}

template <class T>
MapSlot map_slot(std::map<std::string, T>& map) {
  MapSlot slot;
  slot.map = &map;
  slot.insert = [](void* any, const std::string& name) {
    return slot_of((*static_cast<std::map<std::string, T>*>(any))[name]);
  };
  slot.clear = [](void* any) { static_cast<std::map<std::string, T>*>(any)->clear(); };
  slot.entries = [](void* any) {
    std::vector<std::pair<std::string, Slot>> slots;
    for (auto& [name, element] : *static_cast<std::map<std::string, T>*>(any)) {
      slots.emplace_back(name, slot_of(element));
    }
    return slots;
  };
  return slot;
}

template <class T>
Slot slot_of(T& member) {
  if constexpr (HasFields<T>) {
    return {StructSlot{&member, &T::tenon_fields()}};
  } else if constexpr (IsVector<T>::value) {
    return {list_slot(member)};
  } else if constexpr (IsMap<T>::value) {
    return {map_slot(member)};
  } else if constexpr (std::is_enum_v<T>) {
    return {EnumSlot{[&member] { return static_cast<int64_t>(member); },
                     [&member](int64_t value) { member = static_cast<T>(value); }, &tenon_enum_names(T{})}};
  } else {
    return {&member};
  }
}

/// One declared member of a parameter struct, seen without its type.
struct FieldInfo {
  std::string name;
  std::string summary;
  std::function<Slot(void*)> slot;      // creates the value of an optional member
  std::function<bool(void*)> is_empty;  // of an optional member
  std::function<void(void*)> set_empty;
  std::string word;  // stands for an empty optional member; such a member alone has one
  bool required = false;
  bool schedulable = false;
  bool agree = false;
  std::optional<double> minimum, maximum, above, below;
  std::optional<int64_t> min_items;
  std::string reference;  // what the text refers to, such as "metric"
  std::string component;  // kind of the component that it is, such as "transform"
};

}  // namespace detail

/// A declared parameter; the functions that follow narrow what it takes and return it for chaining.
class Field {
 public:
  explicit Field(detail::FieldInfo info) : info_(std::move(info)) {}

  /// Bounds of a number, included (min, max) or not (above, below); for a list they hold for each element.
  Field& min(double bound) { return info_.minimum = bound, *this; }
  Field& max(double bound) { return info_.maximum = bound, *this; }
  Field& above(double bound) { return info_.above = bound, *this; }
  Field& below(double bound) { return info_.below = bound, *this; }

  /// A list has at least this many elements.
  Field& min_items(int64_t count) { return info_.min_items = count, *this; }

  /// The pipeline must give it; the member's initial value is no default.
  Field& required() { return info_.required = true, *this; }

  /// A schedule may drive it, and a group may set its own value. Numbers of an optimizer only.
  Field& schedulable() { return info_.schedulable = true, *this; }

  /// The word that stands for an empty std::optional, where "auto" does not say it well.
  Field& word(std::string text) { return info_.word = std::move(text), *this; }

  /// Nodes that use one component over the same inputs must be given the same value, as parts of one split must be.
  Field& agree() { return info_.agree = true, *this; }

  /// The text names a metric; the component receives its full log key ("validate.acc").
  Field& metric_reference() { return info_.reference = "metric", *this; }

  /// The kind of component that a Nested, or each one in a list or map of them, is. A Nested must have it, and be
  /// required, optional, in a list or map, or have a default component.
  Field& component(std::string kind) { return info_.component = std::move(kind), *this; }

  /// The text, or each key of the map, names an input port of the node that this node's `of` names.
  Field& port_reference() { return info_.reference = "port", *this; }

  [[nodiscard]] const detail::FieldInfo& info() const noexcept { return info_; }

 private:
  detail::FieldInfo info_;
};

/// Declares a member under the name that pipelines use. `summary` is one line for people, with the unit.
template <class S, class T>
[[nodiscard]] Field field(T S::*member, std::string name, std::string summary) {
  detail::FieldInfo info;
  info.name = std::move(name);
  info.summary = std::move(summary);
  if constexpr (detail::IsOptional<T>::value) {
    info.word = "auto";
    info.slot = [member](void* object) {
      auto& value = static_cast<S*>(object)->*member;
      return detail::slot_of(value ? *value : value.emplace());
    };
    info.is_empty = [member](void* object) { return !(static_cast<S*>(object)->*member).has_value(); };
    info.set_empty = [member](void* object) { (static_cast<S*>(object)->*member).reset(); };
  } else {
    info.slot = [member](void* object) { return detail::slot_of(static_cast<S*>(object)->*member); };
  }
  return Field(std::move(info));
}

/// All parameters of one struct, with an object of its defaults.
class Fields {
 public:
  template <class S>
  static Fields of(std::initializer_list<Field> fields) {
    Fields all;
    all.make_ = [] { return std::shared_ptr<void>(std::make_shared<S>()); };
    for (const Field& each : fields) {
      all.infos_.push_back(each.info());
    }
    return all;
  }

  [[nodiscard]] const std::vector<detail::FieldInfo>& infos() const noexcept { return infos_; }

  /// A fresh object that holds the defaults.
  [[nodiscard]] std::shared_ptr<void> defaults() const { return make_(); }

 private:
  std::vector<detail::FieldInfo> infos_;
  std::function<std::shared_ptr<void>()> make_;
};

/// The draft 7 JSON Schema of the parameters, canonical text. [any thread]
[[nodiscard]] std::string schema_of(const Fields& fields);

/// Fills `object` from JSON text. Missing members keep their defaults.
/// \throws Error (kConfig) with the pointer of the parameter that is wrong, and how to write it. [any thread]
void parse_params(std::string_view json, const Fields& fields, void* object);

/// Parameters of type S from JSON text.
template <class S>
[[nodiscard]] S parse_params(std::string_view json) {
  S params;
  parse_params(json, S::tenon_fields(), &params);
  return params;
}

/// Parameters of a component that takes none.
struct NoParams {
  static const Fields& tenon_fields() {
    static const Fields fields = Fields::of<NoParams>({});
    return fields;
  }
};

}  // namespace tenon

/// Declares the parameters of a struct, inside of it: TENON_PARAMS(Struct, field, field, …)
#define TENON_PARAMS(Struct, ...)                                                     \
  static const ::tenon::Fields& tenon_fields() {                                      \
    static const ::tenon::Fields fields = ::tenon::Fields::of<Struct>({__VA_ARGS__}); \
    return fields;                                                                    \
  }

/// Names an enum's values, beside its definition: TENON_ENUM(Mode, "min", "max") for enum class Mode { kMin, kMax }
#define TENON_ENUM(Enum, ...)                               \
  inline const ::tenon::EnumNames& tenon_enum_names(Enum) { \
    static const ::tenon::EnumNames names{{__VA_ARGS__}};   \
    return names;                                           \
  }
