// Components of a built plugin, made through its entry as a host makes them.
#pragma once

#include <memory>
#include <string>

#include <tenon/component.hpp>
#include <tenon/registration.hpp>

namespace tenon::test {

struct Destroy {
  const ComponentDescriptor* descriptor = nullptr;
  void operator()(Component* component) const;
};

template <class Kind>
using Made = std::unique_ptr<Kind, Destroy>;

/// The descriptor of component `name` in lib/tenon/plugins/<plugin>.so of this build.
[[nodiscard]] const ComponentDescriptor& descriptor(const std::string& plugin, const std::string& name);

/// \throws Error as the component reported it.
[[nodiscard]] Component* create(const ComponentDescriptor& descriptor, const std::string& params);

/// make<Loss>("tenon_losses", "cross_entropy", R"({"label_smoothing": 0.1})")
template <class Kind>
[[nodiscard]] Made<Kind> make(const std::string& plugin, const std::string& name, const std::string& params = "{}") {
  const ComponentDescriptor& found = descriptor(plugin, name);
  return Made<Kind>(static_cast<Kind*>(create(found, params)), Destroy{&found});
}

/// The error that `action` throws. Without one, a code that no test expects to see together with this text.
template <class Action>
[[nodiscard]] Error error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::kPlugin, "nothing was thrown"};
}

}  // namespace tenon::test
