// What the manifest's rules say of outputs, against what came out.
#pragma once

#include <string>

#include <conformance/inputs.hpp>

namespace tenon::conformance {

/// How `out` contradicts the output rules for inputs `in`; empty where it does not. `batched`: shapes begin with "N".
[[nodiscard]] std::string contradiction(const Subject& subject, const Json& params, const Spec& in, const Spec& out,
                                        bool batched);

}  // namespace tenon::conformance
