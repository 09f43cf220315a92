// Inputs and outputs pass as safetensors files, named by their place in the order of running.
#include <engine/artefact.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <core/plugin/loader.hpp>
#include <core/process/child.hpp>
#include <core/storage/atomic_file.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/sha256.hpp>
#include <engine/step_graph.hpp>
#include <engine/tensor_files.hpp>
#include <tenon/components/exporter.hpp>

namespace tenon::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAgain = "again-";
constexpr const char* kStored = "stored.json";

std::string file_name(std::size_t place) { return fmt::format("{:04}.safetensors", place); }

/// Why the child did not do all that it should; empty when it did. The path of the file is of no use to anyone later.
std::string problem_of(const core::ChildResult& child, const fs::path& file, std::chrono::seconds limit) {
  if (child.timed_out) return fmt::format("it did not come back within {} s", limit.count());
  if (child.exit_code == 0) return "";
  std::string said = child.messages.substr(0, child.messages.find_last_not_of(" \n") + 1);
  constexpr std::string_view kCrash = "error[crash]: ";
  if (const std::size_t crash = said.find(kCrash); crash != std::string::npos) {
    said.erase(0, crash + kCrash.size());
    said.erase(std::min(said.find('\n'), said.size()));  // its notes are about runs
  }
  if (said.starts_with("error: ")) said.erase(0, std::strlen("error: "));
  const std::string path = file.string();
  for (std::size_t at = said.find(path); at != std::string::npos; at = said.find(path)) {
    said.replace(at, path.size(), "the file");
  }
  if (!said.empty()) said.insert(0, ": ");
  if (child.exit_code > 128) {
    const int signal = child.exit_code - 128;
    return fmt::format("the process was ended by signal {} ({}){}", signal, strsignal(signal), said);
  }
  return fmt::format("the process ended with exit code {}{}", child.exit_code, said);
}

/// The results that are there, in order, up to the first that is not.
std::vector<Tensors> results(const fs::path& folder, const std::string& prefix, std::size_t count) {
  std::vector<Tensors> found;
  for (std::size_t i = 0; i < count; ++i) {
    const fs::path file = folder / (prefix + file_name(i));
    if (!fs::exists(file)) break;
    found.push_back(read_tensors(file));
  }
  return found;
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

core::Json stored_in(Exporter& exporter, const fs::path& file) {
  core::Json json = core::Json::object();
  void* const ability = exporter.ability(StoredTensors::kAbility);
  if (ability == nullptr) return json;
  const Tensors stored = static_cast<StoredTensors*>(ability)->stored(file);
  for (const auto& [name, print] : fingerprints({stored.begin(), stored.end()})) json[name] = print;
  return json;
}

}  // namespace

Fingerprints fingerprints(const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  Fingerprints prints;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor host = tensor.detach().cpu().contiguous();
    core::Sha256 hash;
    hash.update(std::span(static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()));
    prints[name] = fmt::format("{} {}", describe(host), hash.digest());
  }
  return prints;
}

Returned run_elsewhere(const SecondProcess& process, const Artefact& artefact, std::span<const Tensors> inputs,
                       const fs::path& folder) {
  const fs::path in = folder / "in";
  const fs::path out = folder / "out";
  fs::create_directory(in);
  fs::create_directory(out);
  for (std::size_t i = 0; i < inputs.size(); ++i) write_tensors(in / file_name(i), inputs[i]);
  const core::ChildResult child = core::run_child(
      process.program,
      {"artefact-run", "--plugin-path", artefact.plugin.parent_path().string(), "--component", artefact.component,
       "--with", core::line_text(artefact.with), "--file", artefact.file.string(), "--inputs", in.string(), "--outputs",
       out.string()},
      folder / "messages", process.limit, [&] { return process.poll != nullptr && process.poll->heard() != 0; });
  if (child.cancelled) throw Interrupted{process.poll->heard()};
  Returned returned{results(out, "", inputs.size()),
                    results(out, kAgain, inputs.size()),
                    {},
                    problem_of(child, artefact.file, process.limit)};
  if (!returned.problem.empty()) return returned;
  if (returned.second.size() < inputs.size() || !fs::exists(out / kStored)) {
    returned.problem = "the process ended before it had done everything, and called that a success";
    return returned;
  }
  const core::Json stored = core::read_json(out / kStored);
  for (const auto& [name, print] : stored.items()) returned.stored[name] = print.get<std::string>();
  return returned;
}

void run_artefact(const ArtefactRequest& request) {
  core::Loader loader(request.catalogue);
  const core::ComponentHandle handle = loader.create(request.component, request.with);
  auto& exporter = handle.as<Exporter>();
  const c10::NoGradGuard no_grad;
  const auto open = [&] {
    const core::Entered entered(handle.callee(), "open");
    return exporter.open(request.file);
  };
  const std::unique_ptr<Runnable> runnable = open();
  const core::Entered entered(handle.callee(), "run");
  if (!fs::is_directory(request.inputs)) {
    write_tensors(request.outputs, runnable->run(read_tensors(request.inputs)));
    return;
  }
  const std::vector<fs::path> files = files_of(request.inputs);
  for (const std::string prefix : {"", kAgain}) {
    for (const fs::path& file : files) {
      write_tensors(request.outputs / (prefix + file.filename().string()), runnable->run(read_tensors(file)));
    }
  }
  core::write_atomically(request.outputs / kStored, core::canonical_text(stored_in(exporter, request.file)));
}

}  // namespace tenon::engine
