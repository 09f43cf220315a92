// Components of a plugin of this build, through the harness.
#pragma once

#include <string>

#include <tenon/harness/components.hpp>

namespace tenon::test {

// NOLINTNEXTLINE(google-build-using-namespace): these tests are the harness's own users
using namespace harness;

/// The components of lib/tenon/plugins/<plugin>.so of this build.
[[nodiscard]] Registry plugin(const std::string& name);

/// The descriptor of the first component of that name. \throws Error (kPlugin) when there is none.
[[nodiscard]] const ComponentDescriptor& descriptor(const std::string& plugin_name, const std::string& name);

/// make<Loss>("tenon_losses", "cross_entropy", R"({"label_smoothing": 0.1})"). \throws Error as it was reported.
template <class Kind>
[[nodiscard]] Made<Kind> make(const std::string& plugin_name, const std::string& name,
                              const std::string& params = "{}") {
  return plugin(plugin_name).make<Kind>(name, params);
}

}  // namespace tenon::test
