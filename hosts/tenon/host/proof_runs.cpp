// Child processes of the same program.
#include <host/proof_runs.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <core/process/child.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/file.hpp>
#include <host/interruption.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

constexpr int kPreempted = 75;
constexpr int kInterrupted = 130;

fs::path make_folder(const std::optional<std::string>& keep) {
  if (keep) {
    fs::path folder = fs::absolute(*keep);
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw core::storage_error("make", folder, failed.value());
    return folder;
  }
  std::string name = fs::temp_directory_path() / "tenon-proof-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw core::storage_error("make", name, errno);
  return name;
}

/// Settings that take the test and its own nodes out of the pipeline.
std::vector<std::string> without_test(const core::Graph& graph) {
  if (!graph.test) return {};
  std::vector<std::string> sets{"test=null"};
  std::set<std::string> kept;
  const auto each_node = [](const core::Path& path, const auto& visit) {
    std::for_each(path.stream.begin(), path.stream.end(), visit);
    std::for_each(path.step.begin(), path.step.end(), visit);
  };
  const auto keep = [&](const std::string& name) {
    kept.insert(name);
    kept.insert(graph.at(name).owner());
  };
  each_node(graph.fit.path, keep);
  for (const core::Phase& phase : graph.fit.phases) each_node(phase.path, keep);
  if (graph.predict) each_node(graph.predict->path, keep);
  for (const core::Validation& validation : graph.validations) each_node(validation.path, keep);
  each_node(graph.test->path, [&](const std::string& name) {
    if (!kept.contains(name)) sets.push_back(fmt::format("nodes.{}.disabled=true", name));
  });
  return sets;
}

/// What is due by the clock falls elsewhere in each run.
void without_clock(const core::Cadence& cadence, std::string_view section, std::vector<std::string>& sets) {
  if (!cadence.times.empty()) sets.push_back(fmt::format(R"({}.every="1 epoch")", section));
}

std::vector<std::string> common_options(const Arguments& arguments, const core::Graph& graph) {
  std::vector<std::string> all{"run", "--color", "never", "--no-preflight"};
  for (const std::string_view option : {"plugin-path", "trust-dir", "overlay", "set"}) {
    for (const std::string& value : arguments.values(option)) {
      all.push_back(fmt::format("--{}", option));
      all.push_back(value);
    }
  }
  std::vector<std::string> sets{"observe=[]", "export=[]"};
  std::ranges::copy(without_test(graph), std::back_inserter(sets));
  without_clock(graph.checkpoint.every, "checkpoint", sets);
  for (const core::Validation& validation : graph.validations) {
    without_clock(validation.every, validation.name.empty() ? "validate" : "validate." + validation.name, sets);
  }
  for (std::string& set : sets) {
    all.emplace_back("--set");
    all.push_back(std::move(set));
  }
  return all;
}

/// The group of errors behind an exit code that was not expected.
ErrorCode group_of(int exit_code) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kStorage); ++code) {
    if (tenon::exit_code(static_cast<ErrorCode>(code)) == exit_code) return static_cast<ErrorCode>(code);
  }
  const bool well = exit_code == 0 || exit_code == kPreempted || exit_code == kInterrupted;
  return well ? ErrorCode::kVerification : ErrorCode::kPlugin;
}

/// From the first error on: the warnings before it have been told already.
std::string_view without_warnings(std::string_view messages) {
  const std::size_t error = messages.starts_with("error") ? 0 : messages.find("\nerror") + 1;
  messages.remove_prefix(error);
  return messages.substr(0, messages.find_last_not_of('\n') + 1);
}

[[noreturn]] void refuse(const core::ChildResult& child, const std::string& what, int expected) {
  std::string message = child.exit_code > 128 && child.exit_code != kInterrupted
                            ? fmt::format("{} was ended by signal {}", what, child.exit_code - 128)
                            : fmt::format("{} ended with exit code {}", what, child.exit_code);
  if (expected != 0) message += fmt::format(" where {} is due", expected);
  const std::string_view said = without_warnings(child.messages);
  if (!said.empty()) message += fmt::format("; it said:\n{}", said);
  throw Error(group_of(child.exit_code), message);
}

ProofRun read_outcome(const fs::path& file) {
  const core::Json json = core::read_json(file, ErrorCode::kVerification);
  ProofRun run;
  run.directory = json.at("directory").get<std::string>();
  run.checkpoint = json.at("checkpoint").get<std::string>();
  run.steps = json.at("steps");
  run.steps_executed = json.at("steps_executed");
  run.samples_used = json.at("samples_used");
  run.samples_read = json.at("samples_read");
  if (const auto first = json.find("first_read"); first != json.end()) {
    run.first_read = DataPosition{first->at("epoch"), first->at("batch")};
  }
  run.stopped = json.at("stopped");
  run.validation = json.at("validation");
  return run;
}

}  // namespace

CheckpointPosition position_of(const fs::path& checkpoint) {
  const core::Json state = core::read_json(checkpoint / "state.json");
  const core::Json& training = state.at("training");
  return {.next = {training.at("epoch"), training.at("batch")}, .samples = training.at("samples")};
}

ProofRuns::ProofRuns(const Arguments& arguments, const core::Graph& graph)
    : program_(program_file()),
      folder_(make_folder(arguments.value("keep"))),
      keep_(arguments.has("keep")),
      options_(common_options(arguments, graph)),
      pipeline_(arguments.operands().front()) {}

ProofRuns::~ProofRuns() {
  std::error_code ignored;
  if (!keep_) fs::remove_all(folder_, ignored);
}

ProofRun ProofRuns::run(const std::string& place, const std::string& what, const std::vector<std::string>& options,
                        int expected) {
  const fs::path outcome = folder_ / (place + ".outcome.json");
  std::vector<std::string> all = options_;
  all.insert(all.end(), {"--set", "run.dir=" + compact((folder_ / place).string()), "--outcome", outcome.string()});
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {"--", pipeline_});
  const core::ChildResult child = core::run_child(program_, all, folder_ / (place + ".messages"), core::kNoLimit,
                                                  [] { return Interruption::signal() != 0; });
  if (Interruption::signal() != 0) throw Interrupted{Interruption::signal()};
  if (child.exit_code != expected) refuse(child, what, expected);
  return read_outcome(outcome);
}

int prove(const Arguments& arguments, Console& console,
          const std::function<int(const core::Graph& graph, ProofRuns& runs)>& proof) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const Pipeline pipeline = read_pipeline(arguments, catalogue);
  console.report(pipeline.findings, "nothing was started");
  if (!pipeline.graph) return pipeline.findings.exit_code();
  const Interruption interruption;
  try {
    ProofRuns runs(arguments, *pipeline.graph);
    return proof(*pipeline.graph, runs);
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal;
  }
}

}  // namespace tenon::host
