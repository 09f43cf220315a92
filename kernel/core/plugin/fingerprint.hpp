// Compares the build facts of a plugin with those of this host, before the plugin is opened.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tenon::core {

/// key → value of a fingerprint's text. \throws Refusal ("fingerprint") for text that is not "key=value key=value".
[[nodiscard]] std::map<std::string, std::string> parse_fingerprint(std::string_view text);

/// The facts of this build, libtorch's included.
[[nodiscard]] std::string_view host_fingerprint() noexcept;

/// Empty when a plugin with `plugin` can share C++ objects with a host of `host`. Otherwise a text for people that
/// names both sides of each difference and the fix. Keys "libtorch" and "cuda" count only where the plugin has them;
/// any other key must be on both sides and equal.
[[nodiscard]] std::string fingerprint_difference(std::string_view plugin, std::string_view host);

}  // namespace tenon::core
