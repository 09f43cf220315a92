// Port rules: what a component takes and gives, as data, so that a pipeline is typed before any plugin is opened.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tenon/array.hpp>

namespace tenon {

/// One named port, or a rule about many.
///
/// A name that starts with "$" is the value of that parameter. An axis is a size, a symbol that stands for one size
/// throughout the component ("N", "H"), the value of a parameter ("$classes"), or "*" for any number of axes.
struct Port {
  using Axis = std::variant<int64_t, std::string>;

  std::string name;
  std::vector<Dtype> dtypes;        ///< The types it takes; empty takes any. An output gives the first.
  std::vector<Axis> shape;          ///< With the batch axis in the step plane, without it in samples.
  bool any_shape = false;           ///< `shape` says nothing.
  bool same_shape = false;          ///< An output that has the shape of the input field of its name.
  bool optional = false;            ///< An input that may stay unwired.
  bool pass = false;                ///< An output rule: hands on all fields of the input.
  std::vector<std::string> except;  ///< Fields that `pass` leaves out.
  bool open = false;                ///< Known only once the plan is made.
  std::string like;                 ///< An input in the units of that other input, as a prediction is of its target.
  std::string classes;              ///< An input that scores the classes which that other input numbers, as logits do.
  std::string copies;               ///< An output with the values of input fields as they are: see copy_of.

  /// A port with types and a shape.
  static Port of(std::string name, std::vector<Dtype> dtypes, std::vector<Axis> shape) {
    Port port;
    port.name = std::move(name);
    port.dtypes = std::move(dtypes);
    port.shape = std::move(shape);
    return port;
  }

  /// A port of any shape.
  static Port any(std::string name, std::vector<Dtype> dtypes = {}) {
    Port port;
    port.name = std::move(name);
    port.dtypes = std::move(dtypes);
    port.any_shape = true;
    return port;
  }

  /// An output with the shape of the input field of the same name.
  static Port same(std::string name, std::vector<Dtype> dtypes = {}) {
    Port port = any(std::move(name), std::move(dtypes));
    port.any_shape = false;
    port.same_shape = true;
    return port;
  }

  /// This port in the units of another input port: where that one is rescaled, both are brought back together.
  [[nodiscard]] Port in_units_of(std::string other) const {
    Port port = *this;
    port.like = std::move(other);
    return port;
  }

  /// This port as scores of the classes that another input port numbers: where those have names, predictions show them.
  [[nodiscard]] Port classes_of(std::string other) const {
    Port port = *this;
    port.classes = std::move(other);
    return port;
  }

  /// This output with the values of an input field as they are, perhaps in another type, so that scales and categories
  /// of that field hold for it too. Where "$parameter" lists several fields: their values, joined along the last axis.
  [[nodiscard]] Port copy_of(std::string fields) const {
    Port port = *this;
    port.copies = std::move(fields);
    return port;
  }

  /// All fields of the input but those named.
  static Port pass_all(std::vector<std::string> except = {}) {
    Port port;
    port.pass = true;
    port.except = std::move(except);
    return port;
  }

  /// Fields that only the component itself can tell.
  static Port known_later() {
    Port port;
    port.open = true;
    return port;
  }
};

/// All ports of a component: its class returns them from `static tenon::Ports ports()`.
struct Ports {
  std::vector<Port> in;
  std::vector<Port> out;
};

/// Which way a metric gets better.
enum class Direction { kMax, kMin };

/// True when `candidate` beats `best`: strictly better, and finite. Ties keep the earlier value; a value that is not
/// finite never wins, and any finite value beats one that is not.
[[nodiscard]] bool better(double candidate, double best, Direction direction) noexcept;

/// A value that a metric computes: its class returns them from `static std::vector<tenon::MetricOutput> outputs()`.
struct MetricOutput {
  std::string name;
  Direction direction = Direction::kMax;
};

}  // namespace tenon
