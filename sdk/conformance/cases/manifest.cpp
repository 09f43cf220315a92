// What the manifest says, and whether the code says the same.
#include <conformance/case.hpp>

#include <fmt/format.h>

namespace tenon::conformance {
namespace {

void complete(Bench& bench) {
  const Json& manifest = bench.subject().manifest;
  if (manifest.value("summary", "").empty()) {
    bench.fail("the component has no summary", "give TENON_COMPONENT one line for people as its last argument");
  }
  if (!manifest["parameters"].contains("properties")) return;
  for (const auto& [name, property] : manifest["parameters"]["properties"].items()) {
    if (!property.value("description", "").empty()) continue;
    bench.fail(fmt::format("the parameter \"{}\" has no description", name),
               "give tenon::field one line for people as its third argument, with the unit");
  }
}

constexpr Case kComplete{"manifest.complete", "The component and each of its parameters have a line for people.", "",
                         &complete};
TENON_CASE(kComplete);

void drift(Bench& bench) {
  bench.doing("describe()");
  const char* const text = bench.subject().descriptor->describe();
  const auto said = nlohmann::json::parse(text == nullptr ? "" : text, nullptr, false);
  const auto written = nlohmann::json::parse(bench.subject().manifest.dump());
  if (said == written) return;
  bench.fail(fmt::format("the manifest says {}, and the code says {}", written.dump(), said.dump()),
             "describe() must be constant: build the plugin anew with tenon_add_plugin");
}

constexpr Case kDrift{"manifest.drift", "The manifest in the file says what the code says.", "", &drift};
TENON_CASE(kDrift);

void revision(Bench& bench) {
  const Subject& subject = bench.subject();
  const Kind* const kind = find_kind(subject.kind);
  if (kind == nullptr) return bench.fail(fmt::format("this Tenon has no kind {}", subject.kind), "use a newer Tenon");
  const uint32_t theirs = subject.descriptor->revision;
  if (theirs == kind->revision) return;
  const char* const order = theirs < kind->revision ? "older" : "newer";
  bench.fail(fmt::format("it was built for {} revision {}, which is {} than this Tenon's revision {}",
                         subject.descriptor->interface, theirs, order, kind->revision),
             theirs < kind->revision ? "rebuild the plugin with this Tenon's SDK"
                                     : "use a newer Tenon, or rebuild the plugin with this one's SDK");
}

constexpr Case kRevision{"manifest.revision", "The component was built for this Tenon's revision of its interface.", "",
                         &revision};
TENON_CASE(kRevision);

}  // namespace
}  // namespace tenon::conformance
