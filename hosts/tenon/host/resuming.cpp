// Finding, comparing, telling.
#include <host/resuming.hpp>

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <core/process/crash_file.hpp>
#include <core/resume/changes.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/event_log.hpp>
#include <host/run_summary.hpp>

namespace tenon::host {
namespace {

/// A run that stands still is easily forgotten: whoever begins a new one hears of it. One that failed is not meant.
void mention_unfinished(const core::Graph& graph, Console& console) {
  std::vector<core::RunPlace> runs;
  std::optional<core::Json> last;
  try {
    runs = core::list_runs(graph.run.dir, graph.name);
    if (runs.empty() || core::is_live(runs.back().path)) return;
    last = core::last_event(runs.back().path / "log.jsonl");
  } catch (const Error&) {
    return;  // the run that begins will say what is wrong with the folder
  }
  if (!last || last->value("event", "") == "run_end" || last->value("event", "") == "failure") return;
  if (core::list_checkpoints(runs.back().path / "checkpoints").empty()) return;
  const char* const ended = core::read_crash(runs.back().path) ? "crashed after" : "was interrupted at";
  console.complain(fmt::format("{} {} step {}; --resume auto goes on with it\n", short_path(runs.back().path), ended,
                               last->value("step", int64_t{0})));
}

/// --resume auto begins a new run also where all that was saved is damaged, or where there is nothing to go on with, but
/// not without a word.
void mention_new_run(const core::Graph& graph, const std::string& why, Console& console) {
  const std::vector<core::RunPlace> runs = core::list_runs(graph.run.dir, graph.name);
  if (runs.empty()) return;
  std::vector<std::string> damaged;
  const bool sound = core::newest_checkpoint(runs.back().path / "checkpoints", damaged).has_value();
  if (sound || damaged.empty()) {
    if (!why.empty()) console.report(core::Severity::kNote, "", fmt::format("a new run begins: {}", why));
    return;
  }
  for (const std::string& message : damaged) {
    console.report(core::Severity::kWarning, "damaged-checkpoint", message + "; a new run begins");
  }
}

}  // namespace

Resuming find_resuming(const Arguments& arguments, const core::Graph& graph, const core::Resolved& resolved,
                       Console& console) {
  Resuming resuming;
  for (std::string& word : arguments.values("accept")) resuming.accepted.insert(std::move(word));
  core::check_accept_words(resuming.accepted, graph);
  const core::ResumeRequest request = core::parse_resume(arguments.value("resume").value_or("never"));
  std::string why_not;
  std::optional<core::ResumePoint> point = core::find_resume_point(graph.run.dir, graph.name, request, &why_not);
  if (!point) {
    if (!arguments.has("resume")) mention_unfinished(graph, console);
    if (request.mode == core::ResumeMode::kAuto) mention_new_run(graph, why_not, console);
    return resuming;
  }
  for (const std::string& message : point->damaged) {
    console.report(core::Severity::kWarning, "damaged-checkpoint", message);
  }
  const std::vector<core::Change> changes = core::changes_since(point->directory.path(), graph, resolved);
  console.complain(fmt::format("Resuming {} at step {}{}\n{}", short_path(point->directory.path()),
                               point->checkpoint.step(), point->branch ? ", as a new run that branches off" : "",
                               core::render(changes)));
  if (const std::optional<std::string> crash = core::read_crash(point->directory.path())) {
    console.complain(fmt::format("The attempt before crashed: {}\n", *crash));
  }
  core::require_accepted(changes, resuming.accepted);
  resuming.begin_anew = core::beginning_anew(changes);
  resuming.point = std::make_shared<core::ResumePoint>(std::move(*point));
  return resuming;
}

}  // namespace tenon::host
