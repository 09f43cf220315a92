// The kernel's own components, described by the machinery that plugins use.
#include <core/plugin/builtin.hpp>

#include <core/plugin/fingerprint.hpp>
#include <tenon/registration.hpp>

namespace tenon::core {
namespace {

Json loader_description() {
  detail::Description description;
  description.interface = "tenon.loader";
  description.revision = 1;
  description.name = "threads";
  description.summary =
      "Batches of a stream of samples, loaded ahead by threads; the same batches for any number of them";
  description.fields = &LoaderParams::tenon_fields();
  description.ports.out = {Port::pass_all()};
  description.traits = {"deterministic"};
  return Json::parse(detail::describe(description));
}

}  // namespace

PluginInfo kernel_plugin() {
  PluginInfo plugin;
  plugin.id = kKernelPlugin;
  plugin.version = TENON_VERSION;
  plugin.licence = "Apache-2.0";
  plugin.api = kApi;
  plugin.fingerprint = host_fingerprint();
  plugin.components.push_back(parse_component(loader_description(), ""));
  plugin.components.back().plugin = plugin.id;
  return plugin;
}

}  // namespace tenon::core
