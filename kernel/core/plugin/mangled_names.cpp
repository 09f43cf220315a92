// Names by the Itanium C++ ABI, 5.1.
#include <core/plugin/mangled_names.hpp>

#include <cxxabi.h>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon::core {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // "f" alone would become "float"
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

std::string outer_namespaces(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return {};
  mangled.remove_prefix(2);
  for (const std::string_view special : {"TV", "TI", "TS", "TT", "GV"}) {
    if (mangled.starts_with(special)) mangled.remove_prefix(special.size());
  }
  if (mangled.empty() || mangled.front() != 'N') return {};
  mangled.remove_prefix(1);
  while (!mangled.empty() && std::string_view("rVKRO").find(mangled.front()) != std::string_view::npos) {
    mangled.remove_prefix(1);
  }
  std::vector<std::string_view> names;
  while (!mangled.empty() && std::isdigit(static_cast<unsigned char>(mangled.front())) != 0) {
    std::size_t length = 0;
    while (!mangled.empty() && std::isdigit(static_cast<unsigned char>(mangled.front())) != 0 &&
           length < mangled.size()) {
      length = length * 10 + static_cast<std::size_t>(mangled.front() - '0');
      mangled.remove_prefix(1);
    }
    if (length > mangled.size()) return {};
    names.push_back(mangled.substr(0, length));
    mangled.remove_prefix(length);
  }
  if (names.size() > 1) names.pop_back();  // the entity itself
  return fmt::format("{}", fmt::join(names, "::"));
}

}  // namespace tenon::core
