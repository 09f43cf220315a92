// The rules, as a table of symbols and of what to do instead.
#include <describe/lint.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <tenon/registration.hpp>

namespace tenon::describe {
namespace {

constexpr std::string_view kEnds = "ends the whole process: throw tenon::Error instead";
constexpr std::string_view kEnvironment =
    "changes the environment of a process whose threads read it: take a parameter instead";
constexpr std::string_view kFolder = "changes the folder of the whole process: take paths as parameters instead";
constexpr std::string_view kSignals = "replaces a signal handler: those belong to the host";
constexpr std::string_view kMask =
    "decides which signals a thread lets through, and one that is blocked ends the process without a word";
constexpr std::string_view kFork = "copies a process that has threads, whose locks stay locked in the copy";
constexpr std::string_view kReplaces = "puts another program into the place of the whole process";
constexpr std::string_view kFiles = "changes the permissions of all files that the process makes from then on";
constexpr std::string_view kTimer = "sets a timer whose signal ends the process";
constexpr std::string_view kArithmetic = "changes how a thread of the host calculates: restore it before returning";
constexpr std::string_view kLibtorch = "changes how libtorch computes for all: the pipeline's run decides that";
constexpr std::string_view kRandom =
    "draws numbers that no seed of the run decides, so a resumed run differs: draw from the tenon::Rng or "
    "at::Generator that the call brings";
constexpr std::string_view kLocale =
    "changes how all of the process reads numbers: pass a locale to the stream instead";
constexpr std::string_view kClose = "unmaps code whose objects may live: leave the library open";
constexpr std::string_view kThreads = "changes the number of threads for all: run.threads and the loader decide that";

struct Rule {
  std::string_view symbol;
  std::string_view name;  ///< As an author writes it, and as ALLOW takes it.
  std::string_view reason;
};

constexpr std::array kForbidden{
    Rule{"exit", "exit", kEnds},
    Rule{"_exit", "_exit", kEnds},
    Rule{"_Exit", "_Exit", kEnds},
    Rule{"quick_exit", "quick_exit", kEnds},
    Rule{"setenv", "setenv", kEnvironment},
    Rule{"unsetenv", "unsetenv", kEnvironment},
    Rule{"putenv", "putenv", kEnvironment},
    Rule{"clearenv", "clearenv", kEnvironment},
    Rule{"chdir", "chdir", kFolder},
    Rule{"fchdir", "fchdir", kFolder},
    Rule{"signal", "signal", kSignals},
    Rule{"sigaction", "sigaction", kSignals},
    Rule{"sigprocmask", "sigprocmask", kMask},
    Rule{"pthread_sigmask", "pthread_sigmask", kMask},
    Rule{"sigaltstack", "sigaltstack", kSignals},
    Rule{"_ZSt13set_terminatePFvvE", "std::set_terminate", kSignals},
    Rule{"alarm", "alarm", kTimer},
    Rule{"setitimer", "setitimer", kTimer},
    Rule{"fork", "fork", kFork},
    Rule{"vfork", "vfork", kFork},
    Rule{"execl", "execl", kReplaces},
    Rule{"execle", "execle", kReplaces},
    Rule{"execlp", "execlp", kReplaces},
    Rule{"execv", "execv", kReplaces},
    Rule{"execve", "execve", kReplaces},
    Rule{"execvp", "execvp", kReplaces},
    Rule{"execvpe", "execvpe", kReplaces},
    Rule{"fexecve", "fexecve", kReplaces},
    Rule{"umask", "umask", kFiles},
    Rule{"fesetround", "fesetround", kArithmetic},
    Rule{"fesetenv", "fesetenv", kArithmetic},
    Rule{"feenableexcept", "feenableexcept", kArithmetic},
    Rule{"_ZN3c1017set_default_dtypeEN6caffe28TypeMetaE", "c10::set_default_dtype", kLibtorch},
    Rule{"rand", "rand", kRandom},
    Rule{"srand", "srand", kRandom},
    Rule{"random", "random", kRandom},
    Rule{"srandom", "srandom", kRandom},
    Rule{"drand48", "drand48", kRandom},
    Rule{"lrand48", "lrand48", kRandom},
    Rule{"_ZNSt13random_device9_M_getvalEv", "std::random_device", kRandom},
    Rule{"_ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "std::random_device",
         kRandom},
    Rule{"_ZN2at6detail22getDefaultCPUGeneratorEv", "at::detail::getDefaultCPUGenerator", kRandom},
    Rule{"setlocale", "setlocale", kLocale},
    Rule{"_ZNSt6locale6globalERKS_", "std::locale::global", kLocale},
    Rule{"dlclose", "dlclose", kClose},
    Rule{"omp_set_num_threads", "omp_set_num_threads", kThreads},
    Rule{"_ZN2at15set_num_threadsEi", "at::set_num_threads", kThreads},
    Rule{"_ZN2at23set_num_interop_threadsEi", "at::set_num_interop_threads", kThreads},
    Rule{"_ZN2cv13setNumThreadsEi", "cv::setNumThreads", kThreads},
};

bool holds(std::span<const std::string> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && name != nullptr ? std::string(name.get()) : symbol;
}

void lint_exports(const Symbols& symbols, std::vector<std::string>& faults) {
  std::vector<std::string> extra;
  for (const std::string& name : symbols.exported) {
    if (name != kEntrySymbol) extra.push_back(name);
  }
  if (extra.empty()) return;
  const std::string more = extra.size() > 1 ? fmt::format(" and {} more", extra.size() - 1) : "";
  faults.push_back(fmt::format(
      "exports {}{} beside {}: another library's symbol of that name would be taken for it, or this one for "
      "another's; drop the link options or attributes (visibility, --export-dynamic) that export it",
      demangled(extra.front()), more, kEntrySymbol));
}

void lint_imports(const Symbols& symbols, std::span<const std::string> allowed, std::vector<std::string>& faults) {
  std::set<std::string_view> told;
  for (const Rule& rule : kForbidden) {
    if (holds(allowed, rule.name) || !holds(symbols.imported, rule.symbol) || !told.insert(rule.name).second) continue;
    faults.push_back(fmt::format("calls {}, which {}; where it must, its tenon_add_plugin() says ALLOW {}", rule.name,
                                 rule.reason, rule.name));
  }
}

/// The namespace of TORCH_LIBRARY(name, m), which defines a variable TORCH_LIBRARY_static_init_name.
std::optional<std::string> registered_namespace(const std::string& symbol) {
  constexpr std::string_view kPrefix = "TORCH_LIBRARY_static_init_";
  const std::size_t at = symbol.find(kPrefix);
  if (at == std::string::npos || at == 0) return std::nullopt;
  std::size_t digits = at;  // Mangled names have their length before them.
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(symbol[digits - 1])) != 0) --digits;
  const std::size_t length = std::strtoul(symbol.c_str() + digits, nullptr, 10);
  if (digits == at || length <= kPrefix.size() || length > symbol.size() - at) return std::nullopt;
  return symbol.substr(at + kPrefix.size(), length - kPrefix.size());
}

void lint_namespaces(const Symbols& symbols, std::span<const std::string> declared, std::vector<std::string>& faults) {
  std::set<std::string> undeclared;
  for (const std::string& symbol : symbols.all) {
    const std::optional<std::string> name = registered_namespace(symbol);
    if (name && !holds(declared, *name)) undeclared.insert(*name);
  }
  for (const std::string& name : undeclared) {
    faults.push_back(
        fmt::format("registers the torch operator namespace {} (TORCH_LIBRARY) without declaring it: add NAMESPACES {} "
                    "to its tenon_add_plugin()",
                    name, name));
  }
  const bool registers = std::ranges::any_of(
      symbols.imported, [](const std::string& name) { return name.starts_with("_ZN5torch7LibraryC"); });
  if (registers && declared.empty() && undeclared.empty()) {
    faults.emplace_back(
        "registers torch operators (TORCH_LIBRARY) but declares no namespace: add NAMESPACES <name>... to its "
        "tenon_add_plugin()");
  }
}

/// gcc links a file with this function where it links with such options; it runs when the library is opened.
void lint_arithmetic(const Symbols& symbols, std::vector<std::string>& faults) {
  if (!holds(symbols.all, "set_fast_math")) return;
  faults.emplace_back(
      "is linked with -ffast-math, -funsafe-math-optimizations or -Ofast, so that opening it makes the whole process "
      "take numbers near zero for zero: give these options to source files alone, not to the link");
}

}  // namespace

std::vector<std::string> lint(const Symbols& symbols, std::span<const std::string> namespaces,
                              std::span<const std::string> allowed) {
  std::vector<std::string> faults;
  lint_exports(symbols, faults);
  lint_imports(symbols, allowed, faults);
  lint_arithmetic(symbols, faults);
  lint_namespaces(symbols, namespaces, faults);
  return faults;
}

}  // namespace tenon::describe
