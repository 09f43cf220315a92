// What the manifest's rules say of outputs, against what came out.
#pragma once

#include <string>
#include <vector>

#include <conformance/inputs.hpp>

namespace tenon::conformance {

/// The fields or ports that a rule is about: its own name, or those that its parameter holds; "" is none.
[[nodiscard]] std::vector<std::string> names_of(const Json& rule, const Json& params);

/// How `out` contradicts the output rules for inputs `in`; empty where it does not. `batched`: shapes begin with "N".
[[nodiscard]] std::string contradiction(const Subject& subject, const Json& params, const Spec& in, const Spec& out,
                                        bool batched);

}  // namespace tenon::conformance
