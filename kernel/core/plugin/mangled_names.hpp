// What mangled C++ names say.
#pragma once

#include <string>
#include <string_view>

namespace tenon::core {

/// "at::Tensor::size(long) const", or the name itself where it is not mangled.
[[nodiscard]] std::string demangled(const std::string& name);

/// The outermost namespaces of a mangled C++ name, "tenon::nn" of `_ZN5tenon2nn6Module…`; empty for another name.
[[nodiscard]] std::string outer_namespaces(std::string_view mangled);

}  // namespace tenon::core
