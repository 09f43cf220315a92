// Opening plugins through Boost.DLL, and owning what they make.
#include <core/plugin/loader.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <boost/dll/shared_library.hpp>

#include <core/json/pointer.hpp>
#include <core/plugin/elf.hpp>
#include <core/plugin/open_library.hpp>
#include <core/process/crash_handlers.hpp>
#include <core/process/plugin_ranges.hpp>
#include <core/text/suggest.hpp>
#include <tenon/components/nesting.hpp>

namespace tenon::core {
namespace {

constexpr std::string_view kRebuild = "rebuild the plugin with this Tenon's SDK";

/// Boost wraps the loader's message: "… (dlerror system message: MESSAGE): Bad file descriptor".
std::string_view loader_message(std::string_view text) {
  constexpr std::string_view kStart = "dlerror system message: ";
  const std::size_t start = text.find(kStart);
  if (start == std::string_view::npos) return text;
  text.remove_prefix(start + kStart.size());
  return text.substr(0, text.rfind("): "));
}

/// cv::setNumThreads of the OpenCV that a plugin brings with it: without that, each loader thread would start as many more
/// as there are cores.
void keep_opencv_on_its_thread(void* library) noexcept {
  void* const function = ::dlsym(library, "_ZN2cv13setNumThreadsEi");
  if (function != nullptr) reinterpret_cast<void (*)(int)>(function)(1);  // no more than the caller's
}

const PluginEntry* open_entry(const std::filesystem::path& path) {
  namespace dll = boost::dll;
  dll::shared_library library;
  try {
    library.load(path, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  } catch (const std::exception& error) {
    throw open_failure(path, loader_message(error.what()));
  }
  // Pinned: closing a library while objects of its types live would crash.
  (void)::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  keep_opencv_on_its_thread(library.native());
  if (!library.has(kEntrySymbol)) {
    throw Refusal("no-entry",
                  fmt::format("{} does not export {}: build it with tenon_add_plugin", path.string(), kEntrySymbol));
  }
  const PluginEntry* entry = library.get<const PluginEntry*() noexcept>(kEntrySymbol)();
  if (entry == nullptr) throw Refusal("entry", fmt::format("{} says nothing of itself; {}", path.string(), kRebuild));
  return entry;
}

/// The components' part of the manifest, which the catalogue does not keep as it was written.
Json components_in(const PluginInfo& info) {
  const ElfFile file(info.path);
  if (file.build_id() != info.build_id || !file.section(kManifestSection)) {
    throw Refusal("drift", fmt::format("{} was replaced after it had been checked: start again", info.path.string()));
  }
  return manifest_in(file).at("components");
}

Refusal drift(const PluginInfo& info, std::string_view what, std::string_view file, std::string_view opened) {
  return {"drift", fmt::format("plugin {} ({}): its manifest and its code disagree about {}: \"{}\" and \"{}\"; {}",
                               info.id, info.path.string(), what, file, opened, kRebuild)};
}

std::string_view text_or_empty(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

void check_entry(const PluginInfo& info, const PluginEntry& entry) {
  if (entry.size < sizeof(PluginEntry) || entry.api != kApi) {
    throw Refusal("entry", fmt::format("plugin {} ({}) was built for plugin API {}, this Tenon has API {}; {}", info.id,
                                       info.path.string(), entry.api, kApi, kRebuild));
  }
  const std::string namespaces = fmt::format("{}", fmt::join(info.namespaces, " "));
  const std::pair<std::string_view, std::pair<std::string_view, const char*>> texts[] = {
      {"its id", {info.id, entry.id}},
      {"its version", {info.version, entry.version}},
      {"its licence", {info.licence, entry.licence}},
      {"its fingerprint", {info.fingerprint, entry.fingerprint}},
      {"its torch namespaces", {namespaces, entry.namespaces}}};
  for (const auto& [what, sides] : texts) {
    if (sides.first != text_or_empty(sides.second)) throw drift(info, what, sides.first, text_or_empty(sides.second));
  }
}

/// Takes what a component reports, until it can be thrown on this side of the border.
class Report {
 public:
  [[nodiscard]] ErrorSink sink() noexcept { return {&Report::take, this}; }
  [[nodiscard]] bool empty() const noexcept { return !error_; }
  void rethrow() const {
    if (error_) throw Error(*error_);
  }

 private:
  static void take(void* self, ErrorCode code, const char* pointer, const char* message) noexcept {
    auto& report = *static_cast<Report*>(self);
    if (report.error_) return;  // the first one tells the cause
    const bool known = code >= ErrorCode::kConfig && code <= ErrorCode::kStorage;
    report.error_.emplace(known ? code : ErrorCode::kPlugin, std::string(text_or_empty(message)),
                          std::string(text_or_empty(pointer)));
  }

  std::optional<Error> error_;
};

}  // namespace

OpenedPlugin::OpenedPlugin(const PluginInfo& info) : info_(info) {
  if (info.linked != nullptr) {
    for (const auto& [id, component] : info.linked->components) descriptors_.emplace(id, &component.descriptor);
    return;
  }
  if (info.built_in()) throw Error(ErrorCode::kPlugin, fmt::format("plugin {} is part of the kernel", info.id));
  const Json components = components_in(info);
  const Callee& self = callee(info.id, info.version, info.path.native());
  const Entered entered(&self, "open");
  entry_ = open_entry(info.path);
  note_plugin(self, entry_);
  CrashHandlers::watch_exit();
  check_entry(info_, *entry_);
  for (const ComponentDescriptor* const* each = entry_->begin; each != entry_->end; ++each) {
    take(**each, components);
  }
  for (const ComponentInfo& component : info_.components) {
    if (!descriptors_.contains(component.id())) throw drift(info_, "a component", component.id(), "");
  }
}

void OpenedPlugin::take(const ComponentDescriptor& descriptor, const Json& components) {
  if (descriptor.size < sizeof(ComponentDescriptor)) {
    throw Refusal("entry", fmt::format("plugin {} ({}) has a component of an older SDK; {}", info_.id,
                                       info_.path.string(), kRebuild));
  }
  const nlohmann::json said =
      nlohmann::json::parse(descriptor.describe(), nullptr, false);  // sorted, so order does not count
  const std::string name(text_or_empty(descriptor.name));
  const auto written = std::ranges::find_if(components, [&](const Json& each) {
    return each.at("interface") == text_or_empty(descriptor.interface) && each.at("name") == name;
  });
  if (written == components.end()) throw drift(info_, "a component", "", name);
  if (said != nlohmann::json(*written)) throw drift(info_, "the component " + name, written->dump(), said.dump());
  descriptors_.emplace(fmt::format("{}:{}", written->at("kind").get<std::string>(), name), &descriptor);
}

const ComponentDescriptor& OpenedPlugin::descriptor(std::string_view kind, std::string_view name) const {
  const auto found = descriptors_.find(fmt::format("{}:{}", kind, name));
  if (found == descriptors_.end()) {
    throw Error(ErrorCode::kPlugin,
                fmt::format("plugin {} ({}) has no {}:{}", info_.id, info_.path.string(), kind, name));
  }
  return *found->second;
}

const CreateComponent* OpenedPlugin::create(std::string_view kind, std::string_view name) const {
  if (info_.linked == nullptr) return nullptr;
  const auto found = info_.linked->components.find(fmt::format("{}:{}", kind, name));
  return found == info_.linked->components.end() ? nullptr : &found->second.create;
}

namespace {

/// A component that a thread may come back to, and those that it was given.
void keep_for_ever(Component* component, std::vector<ComponentHandle> inner) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::pair<Component*, std::vector<ComponentHandle>>>;  // on purpose
  const std::lock_guard lock(mutex);
  kept->emplace_back(component, std::move(inner));
}

}  // namespace

ComponentHandle::ComponentHandle(const ComponentDescriptor& descriptor, const Json& params, const Callee* callee,
                                 const CreateComponent* create)
    : descriptor_(&descriptor), callee_(callee) {
  const Entered entered(callee_, "create");
  Report report;
  const std::string text = params.dump();
  component_ =
      create == nullptr ? descriptor.create(text.c_str(), report.sink()) : (*create)(text.c_str(), report.sink());
  if (component_ == nullptr) {
    report.rethrow();
    throw Error(ErrorCode::kPlugin, "it could not be made and does not say why");
  }
  if (callee_ != nullptr) {
    ++callee_->living;
    callee_->given_up = false;  // that was an earlier run's
  }
}

ComponentHandle::ComponentHandle(ComponentHandle&& other) noexcept
    : descriptor_(other.descriptor_),
      callee_(other.callee_),
      component_(std::exchange(other.component_, nullptr)),
      inner_(std::move(other.inner_)) {}

ComponentHandle& ComponentHandle::operator=(ComponentHandle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(callee_, other.callee_);
  std::swap(component_, other.component_);
  std::swap(inner_, other.inner_);
  return *this;
}

ComponentHandle::~ComponentHandle() {
  if (component_ == nullptr) return;
  Report report;  // a destructor may not throw: reset() is for those who want to know
  destroy_all(report.sink());
}

void ComponentHandle::reset() {
  if (component_ == nullptr) return;
  Report report;
  destroy_all(report.sink());
  report.rethrow();
}

void ComponentHandle::destroy_all(const ErrorSink& sink) noexcept {
  if (callee_ != nullptr && callee_->given_up) {
    keep_for_ever(std::exchange(component_, nullptr), std::exchange(inner_, {}));
    return;
  }
  {
    const Entered entered(callee_, "destroy");
    descriptor_->destroy(std::exchange(component_, nullptr), sink);
  }
  if (callee_ != nullptr) --callee_->living;
  std::reverse(inner_.begin(), inner_.end());
  for (ComponentHandle& inner : inner_) inner.destroy_all(sink);
  inner_.clear();
}

void ComponentHandle::adopt(const std::string& pointer, ComponentHandle inner) {
  auto* const nesting = static_cast<Nesting*>(component_->ability(Nesting::kAbility));
  if (nesting == nullptr) {
    throw Error(ErrorCode::kPlugin,
                fmt::format("takes a component as a parameter, but lacks the ability {}: its class has to derive from "
                            "tenon::Nesting and return that from ability()",
                            Nesting::kAbility),
                pointer);
  }
  inner_.push_back(std::move(inner));
  const Entered entered(callee_, "adopt");
  try {
    nesting->adopt(pointer, inner_.back().get());
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), error.pointer().empty() ? pointer : error.pointer());
  }
}

void ComponentHandle::require(std::string_view interface, uint32_t revision) const {
  if (component_ == nullptr) throw Refusal("interface", "there is no component");
  if (interface == descriptor_->interface && revision == descriptor_->revision) return;
  throw Refusal("interface", fmt::format("{} is a {} revision {}, where {} revision {} is needed", descriptor_->name,
                                         descriptor_->interface, descriptor_->revision, interface, revision));
}

ComponentHandle Loader::create(std::string_view id, const Json& params, std::string_view node) {
  const ComponentInfo& component = catalogue_.at(id);
  const OpenedPlugin& plugin = open(component.plugin);
  const Callee& self = callee(plugin.info().id, plugin.info().version, plugin.info().path.native(), id, node);
  ComponentHandle handle(plugin.descriptor(component.kind, component.name), params, &self,
                         plugin.create(component.kind, component.name));
  for (const NestedPlace& place : nested_places(params, component.parameters)) {
    handle.adopt(place.pointer, create_inner(place, params, node));
  }
  return handle;
}

ComponentHandle Loader::create_inner(const NestedPlace& place, const Json& params, std::string_view node) {
  const Json* const with = find_value(params, place.pointer + "/with");
  try {
    return create(place.use, with == nullptr ? Json::object() : *with, node);
  } catch (const Error& error) {
    const ComponentInfo* const info = catalogue_.find(place.use);
    const bool blames_plugin = error.code() == ErrorCode::kPlugin && info != nullptr;
    throw Error(error.code(),
                fmt::format("{} in {}{}: {}", place.use, core::quoted(dotted_path(place.pointer)),
                            blames_plugin ? fmt::format(" (plugin {})", info->plugin) : "", error.what()),
                place.pointer + (error.pointer().empty() ? "/use" : "/with" + error.pointer()));
  }
}

const OpenedPlugin& Loader::open(std::string_view plugin) {
  const auto found = std::ranges::find_if(opened_, [plugin](const auto& each) { return each->info().id == plugin; });
  if (found != opened_.end()) return **found;
  const PluginInfo* info = catalogue_.plugin(plugin);
  if (info == nullptr) throw Error(ErrorCode::kPlugin, fmt::format("no plugin {} is there", plugin));
  return *opened_.emplace_back(std::make_unique<OpenedPlugin>(*info));
}

}  // namespace tenon::core
