// Declarations of the program's components, checked as they come.
#include <tenon/kernel/components.hpp>

#include <regex>

#include <fmt/format.h>

#include <embed/content.hpp>
#include <embed/errors.hpp>

namespace tenon::kernel {
namespace {

void require_form(const std::string& text, const char* form, std::string_view what) {
  if (std::regex_match(text, std::regex(form))) return;
  throw tenon::Error(ErrorCode::kConfig, fmt::format("\"{}\" is {}", text, what));
}

}  // namespace

Components::Components(std::string id, std::string version) {
  guarded([&] {
    require_form(id, "[a-z][a-z0-9_-]*(\\.[a-z0-9_-]+)+", "no reverse domain name such as org.example.simulator");
    require_form(version, "[0-9]+\\.[0-9]+\\.[0-9]+", "no version of the form 1.0.0");
    content_ = std::make_shared<const Content>(Content{std::move(id), std::move(version), {}});
  });
}

Components& Components::add_made(const detail::Description& description, DestroyFunction destroy, Create create) {
  guarded([&] {
    auto changed = std::make_shared<Content>(*content_);
    changed->entries.push_back(
        {detail::describe(description), description.interface, description.revision, destroy, std::move(create)});
    static_cast<void>(changed->plugin());  // says what is wrong with it now, to whoever can mend it
    content_ = std::move(changed);
  });
  return *this;
}

Components& Components::add(std::span<const ComponentDescriptor* const> descriptors) {
  guarded([&] {
    auto changed = std::make_shared<Content>(*content_);
    for (const ComponentDescriptor* const each : descriptors) {
      const std::string manifest = each->describe();
      if (manifest.empty()) {
        throw tenon::Error(ErrorCode::kConfig, fmt::format("{} cannot tell its parameters and ports: its declarations "
                                                           "contradict each other",
                                                           each->name));
      }
      changed->entries.push_back(
          {manifest, each->interface, each->revision, each->destroy,
           [each](const char* params, const ErrorSink& sink) { return each->create(params, sink); }});
    }
    static_cast<void>(changed->plugin());
    content_ = std::move(changed);
  });
  return *this;
}

}  // namespace tenon::kernel
