// Parameters: what is taken, what is refused, and whether each has an effect.
#include <conformance/case.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <tenon/error.hpp>
#include <tenon/harness/components.hpp>

namespace tenon::conformance {
namespace {

constexpr const char* kReadThem = "read parameters through TENON_PARAMS, which checks types, bounds and names";

/// Makes the component with each of these and expects an Error (kConfig) at the pointer.
void expect_refused(Bench& bench, const std::vector<Breach>& breaches) {
  for (const Breach& breach : breaches) {
    bench.doing("creation with " + breach.what);
    try {
      (void)bench.subject().make(breach.params);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kConfig && error.pointer() == breach.pointer) continue;
      if (error.code() == ErrorCode::kConfig && !error.pointer().empty()) continue;  // another parameter was first
      bench.fail(fmt::format("{} is refused with exit code {} and the pointer \"{}\", not with 2 and \"{}\": {}",
                             breach.what, exit_code(error.code()), error.pointer(), breach.pointer, error.what()),
                 "throw tenon::Error(ErrorCode::kConfig, message, \"/parameter\")", breach.params);
      continue;
    }
    bench.fail(breach.what + " is taken", kReadThem, breach.params);
  }
}

void example(Bench& bench) {
  bench.doing("looking for parameters and inputs that work");
  const Working working = find_working(bench.subject(), bench.subject().first_params());
  if (!working.trials.empty()) return;
  bench.fail("no parameters and inputs were found with which the component works: " + working.why_not,
             "give its class `static tenon::Example example()` with parameters, files or inputs that work",
             bench.subject().first_params());
}

constexpr Case kExample{"use.example",
                        "The component works with its example, or with plain values of its parameters and inputs that "
                        "follow its port rules.",
                        "", &example};
TENON_CASE(kExample);

void defaults(Bench& bench) {
  const Json& schema = bench.subject().schema();
  Json needed = Json::object();  // only what has no default
  const Json all = bench.params();
  if (schema.contains("required")) {
    for (const Json& name : schema["required"]) needed[name.get<std::string>()] = all.at(name.get<std::string>());
  }
  for (const auto& [name, value] : all.items()) {
    const Json& property = schema["properties"][name];
    if (property.contains("default") && property["default"] != value) needed[name] = value;
  }
  bench.doing("creation with defaults");
  try {
    (void)bench.subject().make(needed);
  } catch (const Error& error) {
    bench.fail(fmt::format("with its defaults it cannot be made, but with the same values written out it can: {}",
                           error.what()),
               "the schema's defaults and the members' initial values must be the same: declare both by TENON_PARAMS",
               needed);
  }
}

constexpr Case kDefaults{"parameters.defaults", "A parameter that is left out is the same as its default.", "",
                         &defaults};
TENON_CASE(kDefaults);

void bounds(Bench& bench) { expect_refused(bench, breaches_of_bounds(bench.subject().schema(), bench.params())); }

constexpr Case kBounds{"parameters.bounds",
                       "A value beyond a bound, of no known word, or an empty list where one may not be empty is "
                       "refused with its place.",
                       "", &bounds};
TENON_CASE(kBounds);

void types(Bench& bench) { expect_refused(bench, breaches_of_type(bench.subject().schema(), bench.params())); }

constexpr Case kTypes{"parameters.types", "A value of a wrong type is refused with its place.", "", &types};
TENON_CASE(kTypes);

void unknown(Bench& bench) {
  Breach breach{bench.params(), "/no_such_parameter", "the unknown key \"no_such_parameter\""};
  breach.params["no_such_parameter"] = 1;
  expect_refused(bench, {breach});
}

constexpr Case kUnknown{"parameters.unknown", "A key that is no parameter is refused by name.", "", &unknown};
TENON_CASE(kUnknown);

std::vector<std::string> words_of(Bench& bench) {
  std::vector<std::string> words{"x", "label", "group"};
  for (const ExampleInput& input : bench.trial().inputs) words.push_back(input.field.name);
  return words;
}

void fuzz(Bench& bench) {
  const Subject& subject = bench.subject();
  const std::vector<std::string> words = words_of(bench);
  Rng random(random_key({subject.seed, name_key(subject.id())}));
  for (int i = 0; i < 200; ++i) {
    const Json drawn =
        with_paths_below(random_value(subject.schema(), "", words, random), subject.schema(), subject.scratch);
    bench.doing("creation with " + drawn.dump());
    try {
      auto made = subject.make(drawn);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kConfig) continue;
      bench.fail(fmt::format("drawn parameters make it throw an error of exit code {}: {}", exit_code(error.code()),
                             error.what()),
                 "parameters that the schema allows but that do not fit together are refused with "
                 "tenon::Error(ErrorCode::kConfig, message, \"/parameter\")",
                 drawn);
      return;
    }
  }
}

constexpr Case kFuzz{"parameters.fuzz",
                     "With 200 sets of parameters drawn from the schema it is made or refused as a mistake in the "
                     "pipeline, and never crashes.",
                     "", &fuzz};
TENON_CASE(kFuzz);

/// Whether the component can be made with these parameters: a refusal is no effect of the one that was changed.
bool takes(const Subject& subject, const Json& params) {
  try {
    (void)subject.make(params);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// All that shows with these parameters: also an error.
Seen effect_of(const Subject& subject, const Json& params, const std::vector<Trial>& trials) {
  Seen seen;
  for (Trial trial : trials) {
    trial.params = params;
    try {
      const std::unique_ptr<Use> use = use_of(subject, trial);
      use->prepare();
      use->go(0, 4, seen);
    } catch (const std::exception& error) {
      seen.add("error", error.what());
    }
  }
  return seen;
}

void used(Bench& bench) {
  const Subject& subject = bench.subject();
  const Json& schema = subject.schema();
  if (!schema.contains("properties") || schema["properties"].empty()) throw Skip{"it has no parameters"};
  const std::vector<std::string> words = words_of(bench);
  bench.doing("creation with drawn parameters");
  const std::vector<Json> around = variations(subject, bench.params(), words, 24);
  std::vector<Seen> before(around.size());
  for (const auto& [name, property] : schema["properties"].items()) {
    if (says(property, "x-path") || says(property, "x-component") || says(property, "x-secret")) continue;
    if (property.value("x-reference", "") == "metric") continue;  // the host follows it
    bool shows = false;
    int tried = 0;
    for (std::size_t i = 0; i < around.size() && !shows; ++i) {
      if (before[i].empty()) before[i] = effect_of(subject, around[i], bench.trials());
      for (const Json& value : alternatives(property, name, words)) {
        if (around[i].value(name, Json()) == value) continue;
        Json params = around[i];
        params[name] = value;
        bench.doing(fmt::format("use with {}", params.dump()));
        if (!takes(subject, params)) continue;
        ++tried;
        if (effect_of(subject, params, bench.trials()) == before[i]) continue;
        shows = true;
        break;
      }
    }
    if (shows || tried == 0 || property.value("x-unit", "") == "time") continue;  // how long it waits is not seen here
    const std::string message =
        fmt::format("the parameter \"{}\" has no effect: {} other values change nothing that can be seen", name, tried);
    const char* const cure = "use it, or take it out";
    const bool decidable = subject.kind != "observer" && subject.kind != "distributed" && subject.kind != "exporter" &&
                           (property.contains("enum") || property.value("type", "") != "string");
    if (decidable) {
      bench.fail(message, cure);
    } else {
      bench.warn(message + "; it may matter where this check cannot look", cure);
    }
  }
}

constexpr Case kUsed{"parameters.used", "Every parameter changes something that can be seen.", "", &used};
TENON_CASE(kUsed);

}  // namespace
}  // namespace tenon::conformance
