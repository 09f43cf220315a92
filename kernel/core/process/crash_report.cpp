// Written with write(2) from static memory: nothing here allocates, locks or reads a file.
#include <core/process/crash_report.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <core/process/alternate_stack.hpp>
#include <core/process/breadcrumb.hpp>
#include <core/process/crash_scene.hpp>
#include <core/process/crash_text.hpp>
#include <core/process/plugin_ranges.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kLongestWhat = 1000;
constexpr std::size_t kFramesKept = 32;

std::atomic<bool> as_json{false};
std::array<char, 16384> message_memory;
std::array<char, 16384> notes_memory;
std::array<char, 65536> file_memory;

/// Whose code crashed, and how that is known.
struct Culprit {
  const Callee* plugin = nullptr;
  bool by_call = false;  ///< The plugin whose component was being called; else the one that is found on the stack.
};

/// A library or program, and how far into it an address lies.
struct Module {
  std::string_view name;
  uintptr_t offset = 0;
};

Module module_at(uintptr_t address) noexcept {
  dl_find_object found = {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return {{}, address};
  std::string_view name = found.dlfo_link_map->l_name;
  name.remove_prefix(name.rfind('/') + 1);
  return {name.empty() ? "the program" : name, address - found.dlfo_link_map->l_addr};
}

/// A return address lies behind its call, which may be the last instruction of a function that does not return.
uintptr_t inside_call(std::span<const uintptr_t> frames, std::size_t i) noexcept {
  return i == 0 || frames[i] == 0 ? frames[i] : frames[i] - 1;
}

const Callee* first_plugin(std::span<const uintptr_t> frames) noexcept {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (const Callee* const plugin = plugin_at(inside_call(frames, i))) return plugin;
  }
  return nullptr;
}

bool same_plugin(const Callee& one, const Callee& other) noexcept { return std::strcmp(one.plugin, other.plugin) == 0; }

bool is_backward(const Breadcrumb& call) noexcept { return call.method == kBackward; }

Culprit find_culprit(const Crash& crash, const Breadcrumb& call) noexcept {
  const Callee* const called = is_backward(call) ? nullptr : call.callee;
  const Callee* const on_stack = first_plugin(crash.frames);
  if (on_stack == nullptr) return {called, called != nullptr};
  return {on_stack, called != nullptr && same_plugin(*called, *on_stack)};
}

bool called_by_libtorch(const Crash& crash) noexcept {
  for (std::size_t i = 0; i < crash.frames.size(); ++i) {
    if (module_at(inside_call(crash.frames, i)).name.starts_with("libtorch")) return true;
  }
  return false;
}

void tell_cause(CrashText& out, const Crash& crash, const Callee* culprit) noexcept {
  if (crash.exited) {
    out << "it called exit()";
    return;
  }
  if (crash.signal.empty()) {
    out << "std::terminate";
    if (!crash.exception) return;
    out << " after an exception of type " << crash.type;
    if (!crash.what.empty()) (out << ": ").plain(crash.what.substr(0, kLongestWhat));
    return;
  }
  out << crash.signal;
  if (!crash.detail.empty()) out << ", " << crash.detail;
  if (crash.at_address) (out << " at address ").hex(crash.address);
  if (culprit == nullptr || crash.frames.empty() || crash.signal == "SIGABRT") return;
  if (plugin_at(crash.frames.front()) != nullptr) return;
  const Module module = module_at(crash.frames.front());
  if (!module.name.empty()) out << " in " << module.name << ", which it called";
}

void tell_call(CrashText& out, const Breadcrumb& call, bool with_plugin) noexcept {
  out << call.method << " of ";
  if (call.callee->node[0] != '\0') out << '"' << call.callee->node << "\" (";
  out << (call.callee->component[0] == '\0' ? "the plugin" : call.callee->component);
  if (with_plugin) out << " of plugin " << call.callee->plugin;
  if (call.callee->node[0] != '\0') out << ")";
  if (call.sample >= 0) out << ", sample " << call.sample;
}

void tell_thread(CrashText& out) noexcept {
  if (thread_label.what == nullptr) {
    out << ", on a thread that Tenon did not start";
    return;
  }
  out << ", on thread " << thread_label.what;
  if (thread_label.number >= 0) out << " " << thread_label.number;
}

/// Calls `visit` for each node of the pipeline whose component is the plugin's, and lives.
template <class Visit>
void visit_nodes_of(const Callee& plugin, const Visit& visit) noexcept {
  for (const Callee* each = callees(); each != nullptr; each = each->next) {
    if (each->living > 0 && each->node[0] != '\0' && same_plugin(*each, plugin)) visit(*each);
  }
}

void tell_nodes_of(CrashText& out, const Callee& plugin) noexcept {
  bool first = true;
  visit_nodes_of(plugin, [&](const Callee& each) {
    out << (first ? "; in this pipeline it brings \"" : ", \"") << each.node << "\" (" << each.component << ")";
    first = false;
  });
}

void tell_what_happened(CrashText& out, const Crash& crash, const Breadcrumb& call, const Culprit& culprit) noexcept {
  if (culprit.plugin == nullptr) {
    out << "a crash (";
    tell_cause(out, crash, nullptr);
    out << ")";
    tell_thread(out);
    out << "; which plugin is to blame, if one is, is not known";
    if (call.callee != nullptr) {
      out << ": the last call was ";
      tell_call(out, call, true);
      out << ", which need not be the cause";
    }
    return;
  }
  out << "plugin " << culprit.plugin->plugin << " " << culprit.plugin->version << " (" << culprit.plugin->path
      << (crash.exited ? ") ended the process (" : ") crashed (");
  tell_cause(out, crash, culprit.plugin);
  out << ")";
  if (culprit.by_call) {
    out << " in ";
    tell_call(out, call, false);
  } else if (is_backward(call)) {
    out << " in backward";
  } else if (call.callee != nullptr) {
    out << " within ";
    tell_call(out, call, true);
  } else if (called_by_libtorch(crash)) {
    out << ", called by libtorch";
  }
  tell_thread(out);
  if (!culprit.by_call) tell_nodes_of(out, *culprit.plugin);
}

/// Each on a line of its own.
void tell_notes(CrashText& out, const CrashFacts& facts, bool written, const Culprit& culprit) noexcept {
  if (facts.trial) out << "every stage is tried once before training (--no-preflight leaves that out); no run began\n";
  if (!facts.checkpoint.empty()) {
    out << "the last checkpoint is " << facts.checkpoint << ": run again with --resume must to go on from it\n";
  } else if (!facts.run.empty()) {
    out << "no checkpoint was written before\n";
  }
  if (written) out << facts.file << " holds what is known\n";
  if (culprit.plugin != nullptr) {
    out << "tenon plugins check " << culprit.plugin->path << " tries what the plugin promises\n";
  }
}

void write_whole(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void member(CrashText& out, std::string_view name) noexcept { (out << ",\n  ").json(name) << ": "; }

void callee_members(CrashText& out, const Callee& callee) noexcept {
  (out << "\"node\": ").json(callee.node);
  (out << ", \"component\": ").json(callee.component);
}

void put_thread(CrashText& out) noexcept {
  if (thread_label.what == nullptr) return;
  member(out, "thread");
  out << '"' << thread_label.what;
  if (thread_label.number >= 0) out << " " << thread_label.number;
  out << '"';
}

void put_cause(CrashText& out, const Crash& crash) noexcept {
  member(out, "cause");
  out.json(crash.exited ? "exit" : crash.signal.empty() ? "terminate" : crash.signal);
  if (!crash.detail.empty()) {
    member(out, "detail");
    out.json(crash.detail);
  }
  if (crash.at_address) {
    member(out, "address");
    (out << '"').hex(crash.address) << '"';
  }
  if (crash.exception) {
    member(out, "exception");
    (out << R"({ "type": )").json(crash.type);
    (out << R"(, "what": )").json(crash.what.substr(0, kLongestWhat)) << " }";
  }
}

void put_call(CrashText& out, const Breadcrumb& call) noexcept {
  if (call.callee == nullptr) return;
  member(out, "call");
  out << "{ ";
  callee_members(out, *call.callee);
  (out << R"(, "plugin": )").json(call.callee->plugin);
  (out << R"(, "method": )").json(call.method);
  if (call.sample >= 0) out << R"(, "sample": )" << call.sample;
  out << " }";
}

void put_plugin(CrashText& out, const Culprit& culprit) noexcept {
  member(out, "found_by");
  out << (culprit.plugin == nullptr ? "\"nothing\"" : culprit.by_call ? "\"call\"" : "\"stack\"");
  if (culprit.plugin == nullptr) return;
  member(out, "plugin");
  (out << R"({ "id": )").json(culprit.plugin->plugin);
  (out << R"(, "version": )").json(culprit.plugin->version);
  (out << R"(, "path": )").json(culprit.plugin->path) << " }";
  member(out, "brings");
  out << '[';
  bool first = true;
  visit_nodes_of(*culprit.plugin, [&](const Callee& each) {
    out << (first ? "\n    { " : ",\n    { ");
    callee_members(out, each);
    out << " }";
    first = false;
  });
  out << (first ? "]" : "\n  ]");
}

void put_frames(CrashText& out, const Crash& crash) noexcept {
  member(out, "frames");
  out << '[';
  for (std::size_t i = 0; i < crash.frames.size() && i < kFramesKept; ++i) {
    const Module module = module_at(crash.frames[i]);
    out << (i == 0 ? "\n    " : ",\n    ") << R"({ "module": )";
    out.json(module.name.empty() ? "?" : module.name) << R"(, "offset": ")";
    out.hex(module.offset) << "\" }";
  }
  out << (crash.frames.empty() ? "]" : "\n  ]");
}

void put_file(CrashText& out, const Crash& crash, const Breadcrumb& call, const Culprit& culprit,
              const CrashFacts& facts, std::string_view message) noexcept {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  out << "{\n  \"format\": 1,\n  \"time\": " << now.tv_sec << '.';
  out.digits(now.tv_nsec / 1'000'000, 3);
  member(out, "tenon");
  out.json(TENON_VERSION);
  member(out, "message");
  out.json(message);
  put_cause(out, crash);
  put_thread(out);
  put_plugin(out, culprit);
  put_call(out, call);
  if (facts.step >= 0) {
    member(out, "step");
    out << facts.step;
  }
  if (!facts.checkpoint.empty()) {
    member(out, "checkpoint");
    out.json(facts.checkpoint);
  }
  put_frames(out, crash);
  out << "\n}\n";
}

/// Complete or not there. False where it could not be written.
bool write_file(const CrashFacts& facts, std::string_view text) noexcept {
  const int file = ::open(facts.temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return false;
  write_whole(file, text);
  const bool whole = ::lseek(file, 0, SEEK_CUR) == static_cast<off_t>(text.size()) && ::fsync(file) == 0;
  ::close(file);
  if (whole && std::rename(facts.temporary, facts.file) == 0) return true;
  ::unlink(facts.temporary);
  return false;
}

/// A progress bar leaves its line open; so may a row that was to grow.
void put_text(CrashText& out, bool line_may_be_open, std::string_view message, std::string_view notes) noexcept {
  if (line_may_be_open) out << "\n";
  out << "error[crash]: " << message << "\n";
  while (!notes.empty()) {
    const std::string_view line = notes.substr(0, notes.find('\n') + 1);
    out << "  = note: " << line;
    notes.remove_prefix(line.size());
  }
}

/// In the shape of the host's other diagnostics.
void put_json_line(CrashText& out, std::string_view message, std::string_view notes) noexcept {
  (out << R"({"$message_type":"diagnostic","message":)").json(message);
  out << R"(,"code":{"code":"crash","explanation":null},"level":"error","spans":[],"children":[)";
  std::string_view before;
  for (std::string_view rest = notes; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    (out << before << R"({"message":)").json(line);
    out << R"(,"code":null,"level":"note","spans":[],"children":[],"rendered":null})";
    before = ",";
    rest.remove_prefix(line.size() + 1);
  }
  (out << R"(],"rendered":)").json(message) << R"(,"pointer":null,"exit_code":3})"
                                            << "\n";
}

}  // namespace

void report_crashes_as_json(bool json) noexcept { as_json = json; }

void report_crash(const Crash& crash) noexcept {
  const Breadcrumb call = breadcrumb;
  const Culprit culprit = find_culprit(crash, call);
  const CrashFacts facts = crash_facts();

  CrashText message(message_memory);
  tell_what_happened(message, crash, call, culprit);
  CrashText file(file_memory);
  bool written = false;
  if (facts.file != nullptr) {
    put_file(file, crash, call, culprit, facts, message.text());
    written = write_file(facts, file.text());
  }
  CrashText notes(notes_memory);
  tell_notes(notes, facts, written, culprit);

  CrashText all(file_memory);  // what it held is written
  if (as_json) {
    put_json_line(all, message.text(), notes.text());
  } else {
    put_text(all, !facts.run.empty(), message.text(), notes.text());
  }
  write_whole(STDERR_FILENO, all.text());
}

}  // namespace tenon::core
