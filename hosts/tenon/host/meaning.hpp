// What a value of the pipeline means: the words of the schema that it was checked against.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <core/json/json.hpp>
#include <core/plugin/catalogue.hpp>

namespace tenon::host {

struct Meaning {
  std::string type;         ///< "number > 0"
  std::string description;  ///< Without a full stop; may be empty.
  std::string owner;        ///< "optimizer:adamw"; empty for the pipeline's own keys.
  bool schedulable = false;
};

/// The meaning of the value at a pointer: of a component's parameter (also in groups and below nested components) or of a
/// key of the pipeline file itself. Nothing for names that the pipeline introduces and for components unknown.
[[nodiscard]] std::optional<Meaning> meaning(const core::Json& pipeline, const core::Catalogue& catalogue,
                                             std::string_view pointer);

/// "Learning rate (number > 0, can be scheduled)"
[[nodiscard]] std::string to_string(const Meaning& meaning);

/// A property's meaning; `root` is the schema in which its references are looked up.
[[nodiscard]] Meaning meaning_of(const core::Json& property, const core::Json& root);

}  // namespace tenon::host
