// tenon-conformance: tries one plugin. Results are lines of JSON on standard output, one a case.
//
//   tenon-conformance --list
//   tenon-conformance --plugin FILE --manifest FILE [--only GLOB] [--component kind:name] [--seed N] [--timeout SECONDS]
//
// Exit code: 0 when all went through, whatever was found; 3 when the plugin could not be tried; 2 for wrong arguments.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <conformance/child.hpp>
#include <tenon/error.hpp>

namespace tenon::conformance {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path plugin;
  fs::path manifest;
  std::string only = "*";
  std::string component;
  uint64_t seed = 1;
  double timeout = 30;
  bool list = false;
};

Options parse(int count, char** arguments) {
  Options options;
  std::map<std::string, std::string> given;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--list") {
      options.list = true;
    } else if (name.starts_with("--") && i + 1 < count) {
      given[name] = arguments[++i];
    } else {
      throw Error(ErrorCode::kConfig, "unknown argument " + name);
    }
  }
  for (const auto& [name, value] : given) {
    if (name == "--plugin") {
      options.plugin = value;
    } else if (name == "--manifest") {
      options.manifest = value;
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--component") {
      options.component = value;
    } else if (name == "--seed") {
      options.seed = std::stoull(value);
    } else if (name == "--timeout") {
      options.timeout = std::stod(value);
    } else {
      throw Error(ErrorCode::kConfig, "unknown argument " + name);
    }
  }
  if (!options.list && (options.plugin.empty() || options.manifest.empty())) {
    throw Error(ErrorCode::kConfig, "--plugin and --manifest are needed");
  }
  return options;
}

/// Results go where standard output was; what plugins print goes to standard error.
std::FILE* results() {
  static std::FILE* const stream = [] {
    const int kept = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    return ::fdopen(kept, "w");
  }();
  return stream;
}

void print(const Json& line) {
  fmt::print(results(), "{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(results());
}

/// A folder that is gone with its object.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "tenon-check-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error(ErrorCode::kStorage, name + " cannot be made");
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  /// An empty folder in it.
  [[nodiscard]] fs::path empty() const {
    fs::path folder = path_ / "case";
    fs::remove_all(folder);
    fs::create_directory(folder);
    return folder;
  }

 private:
  fs::path path_;
};

/// What must hold before anything else is tried; told when it does not, even where nobody asks for it.
constexpr std::array<std::string_view, 4> kGates{"load.open", "manifest.drift", "manifest.revision", "use.example"};

class Check {
 public:
  explicit Check(const Options& options) : options_(options) {
    std::ifstream file(options.manifest);
    manifest_ = Json::parse(file, nullptr, false);
    if (!manifest_.is_object()) throw Error(ErrorCode::kConfig, options.manifest.string() + " is no manifest");
  }

  void run() {
    Subject plugin;
    plugin.kind = "plugin";
    plugin.name = manifest_.value("id", "");
    plugin.manifest = manifest_;
    plugin.plugin = options_.plugin;
    if (!all_cases(plugin)) return;  // what cannot be opened in a child is not opened here
    const harness::Registry registry = harness::Registry::opened(options_.plugin);
    for (const Json& component : manifest_["components"]) {
      Subject subject;
      subject.kind = component["kind"];
      subject.name = component["name"];
      subject.manifest = component;
      subject.plugin = options_.plugin;
      subject.seed = options_.seed;
      if (!options_.component.empty() && options_.component != subject.id()) continue;
      subject.registry = registry;
      subject.registry.add(harness::Registry::linked());
      subject.descriptor = &registry.at(component["interface"].get<std::string>(), subject.name);
      (void)all_cases(subject);
    }
  }

 private:
  [[nodiscard]] Outcome one_case(const Case& test, Subject& subject) {
    subject.scratch = scratch_.empty();
    Outcome outcome = run_case(test, subject, std::chrono::milliseconds(static_cast<int64_t>(options_.timeout * 1000)));
    if (!asked(test) && outcome.verdict != "failed") return outcome;
    Json line{{"case", test.name},          {"component", subject.id()}, {"verdict", outcome.verdict},
              {"seconds", outcome.seconds}, {"seed", options_.seed},     {"findings", outcome.findings}};
    if (!outcome.reason.empty()) line["reason"] = outcome.reason;
    print(line);
    return outcome;
  }

  /// False when nothing further can be tried.
  bool all_cases(Subject& subject) {
    bool usable = true;
    // Nothing else makes sense without them.
    for (const std::string_view gate : kGates) {
      const Case* const test = applicable(gate, subject);
      if (test == nullptr || !usable || (!asked(*test) && test->name == "use.example")) continue;
      usable = one_case(*test, subject).verdict != "failed";
    }
    for (const Case* const test : cases()) {
      if (applicable(test->name, subject) == nullptr || !asked(*test) || is_gate(*test)) continue;
      const bool needs_use = !test->name.starts_with("manifest.");
      if (usable || !needs_use) {
        (void)one_case(*test, subject);
      } else {
        print({{"case", test->name},
               {"component", subject.id()},
               {"verdict", "skipped"},
               {"seconds", 0},
               {"seed", options_.seed},
               {"findings", Json::array()},
               {"reason", "the component cannot be used"}});
      }
    }
    return usable;
  }

  [[nodiscard]] static bool is_gate(const Case& test) { return std::ranges::find(kGates, test.name) != kGates.end(); }
  [[nodiscard]] bool asked(const Case& test) const { return glob_match(options_.only, test.name); }
  [[nodiscard]] static const Case* applicable(std::string_view name, const Subject& subject) {
    for (const Case* const test : cases()) {
      if (test->name != name) continue;
      const bool for_all = test->kind.empty() && subject.kind != "plugin";
      const std::string kinds = fmt::format("|{}|", test->kind);
      return for_all || kinds.find(fmt::format("|{}|", subject.kind)) != std::string::npos ? test : nullptr;
    }
    return nullptr;
  }

  Options options_;
  Json manifest_;
  Scratch scratch_;
};

/// Lets libtorch do once what it does once, so that no child has to. Forward only, on this one thread.
void warm_up() {
  at::set_num_threads(1);
  const c10::NoGradGuard no_grad;
  const at::Tensor image = at::ones({1, 1, 4, 4});
  (void)at::conv2d(image, at::ones({1, 1, 3, 3})).relu().sum().item<float>();
  (void)at::mm(at::ones({2, 2}), at::ones({2, 2}));
}

void list() {
  for (const Case* const test : cases()) {
    print(
        {{"case", test->name}, {"kind", test->kind.empty() ? "all" : test->kind}, {"description", test->description}});
  }
}

}  // namespace
}  // namespace tenon::conformance

int main(int count, char** arguments) {
  using tenon::conformance::Options;
  tenon::conformance::end_with_parent();
  try {
    const Options options = tenon::conformance::parse(count, arguments);
    (void)tenon::conformance::results();  // before any plugin is opened
    if (options.list) {
      tenon::conformance::list();
      return 0;
    }
    tenon::conformance::warm_up();
    tenon::conformance::Check(options).run();
    std::_Exit(0);  // plugins stay mapped, and what they want to do at exit is no concern of the results
  } catch (const tenon::Error& error) {
    fmt::print(stderr, "tenon-conformance: {}\n", error.what());
    return tenon::exit_code(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenon-conformance: {}\n", error.what());
    return 3;
  }
}
