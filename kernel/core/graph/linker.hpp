// What the stages that follow `in`, `of`, `field` and `groups` of one node have in common.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/graph/draft.hpp>

namespace tenon::core {

/// One node while its references are followed.
class Linker {
 public:
  Linker(Draft& draft, NodeId id);

 protected:
  ~Linker() = default;

  [[nodiscard]] const Json* member(std::string_view key) const;
  [[nodiscard]] std::string at(std::string_view key) const;

  /// Reports a key that must be there, unless another error may be why it is not.
  void missing(std::string_view key, std::string message, std::string label);

  Draft& draft_;
  NodeId id_;
  DraftNode& each_;
  Referrer referrer_;
};

/// A text, or the texts of a list, each with its pointer.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> texts_at(const Json& value, const std::string& pointer);

/// Splits and follows "source.output", the text at `wire.pointer`. False, after a report, when nothing can be made of it.
bool follow_wire(Draft& draft, const Referrer& referrer, DraftWire& wire, const std::string& text);

[[nodiscard]] std::vector<std::string> names_of(const std::vector<NamedPort>& ports);

/// Follows `in` of a dataset, transform or loader.
void link_stream(Draft& draft, NodeId id);

/// Follows `in` of a model, loss or metric.
void link_ports(Draft& draft, NodeId id);

/// Follows `of`, `field` and `groups` of an optimizer, schedule or exporter.
void link_targets(Draft& draft, NodeId id);

}  // namespace tenon::core
