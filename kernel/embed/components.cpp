// Declarations of the program's components, checked as they come.
#include <tenon/kernel/components.hpp>

#include <string>
#include <string_view>

#include <fmt/format.h>

#include <core/plugin/manifest_texts.hpp>
#include <embed/content.hpp>
#include <embed/errors.hpp>

namespace tenon::kernel {
namespace {

void require(bool holds, const std::string& text, std::string_view what) {
  if (!holds) throw tenon::Error(ErrorCode::kConfig, fmt::format("\"{}\" is {}", text, what));
}

}  // namespace

Components::Components(std::string id, std::string version) {
  guarded([&] {
    require(core::is_plugin_id(id), id, "no reverse domain name such as org.example.simulator");
    require(core::is_version(version), version, "no version of the form 1.0.0");
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
