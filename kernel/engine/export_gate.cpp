// Writing, measuring, running elsewhere, naming.
#include <engine/export_gate.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <type_traits>
#include <utility>
#include <vector>

#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <unistd.h>

#include <core/storage/atomic_file.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/sha256.hpp>
#include <engine/export_cases.hpp>
#include <engine/export_verdict.hpp>
#include <engine/models.hpp>
#include <tenon/components/exporter.hpp>

namespace tenon::engine {
namespace {

namespace fs = std::filesystem;

/// Everything about one export.
class Gate {
 public:
  Gate(const Components& components, const std::string& name, const fs::path& folder)
      : components_(components),
        node_(components.graph().at(name)),
        model_node_(components.graph().at(node_.of.front())),
        model_(components.node<Model>(model_node_.name)),
        exporter_(components.node<Exporter>(name)),
        verify_(asked("verify", [&] { return exporter_.verify(); })),
        file_(folder / (name + asked("extension", [&] { return exporter_.extension(); }))),
        report_(file_.string() + ".report.json") {}

  ExportOutcome pass(Feed& feed, Collectives& ranks, const SecondProcess& process, const core::Json& facts) {
    for (const fs::path& earlier : {file_, report_}) {
      std::error_code failure;
      fs::remove(earlier, failure);
      if (failure) throw core::storage_error("remove", earlier, failure.value());
    }
    const Refuse refuse = [this](const std::string& message) { fail(message); };
    cases_ = export_cases(components_, model_node_, feed, ranks, verify_, refuse);
    tensors_ = fingerprints(model_tensors(model_));
    const core::HiddenFolder hidden(file_);
    const fs::path written = write(hidden.path());
    const uint64_t bytes = require_size(written);
    const std::string hash = core::sha256_file(written);
    const Returned returned = run(process, written, hidden.path());
    if (core::sha256_file(written) != hash) {
      fail(
          "the file changed while it was verified, so that what would get the final name is not what was verified. The "
          "exporter must have closed the file when write() returns, and open() must only read it");
    }
    const std::vector<Difference> differences = judge(cases_, returned, {output_names(), tensors_, verify_}, refuse);

    core::Json report;
    report["format"] = 1;
    report["exporter"] = node_.use();
    report["model"] = model_node_.name;
    report["sha256"] = hash;
    report["bytes"] = bytes;
    report["tensor_bytes"] = tensor_bytes();
    report["stored_tensors"] = returned.stored.size();
    report["facts"] = facts;
    return name_it(written, std::move(report), differences);
  }

 private:
  template <class Body>
  std::invoke_result_t<const Body&> asked(const char* method, const Body& body) const {
    return components_.entering(node_.name, method, "cannot tell how it is verified and called", body);
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw PlacedError(core::diagnose(components_.resolved(), node_,
                                     Error(ErrorCode::kVerification, fmt::format("{}; no file was left as {}", message,
                                                                                 file_.filename().string()))));
  }

  /// What the manifest declares; for rules that are known only now, whatever the model gives.
  [[nodiscard]] std::vector<std::string> output_names() const {
    std::vector<std::string> names;
    for (const Port& port : model_node_.info->ports.out) {
      if (!port.pass && !port.open && !port.name.starts_with('$')) {
        names.push_back(port.name);
        continue;
      }
      names.clear();
      for (const auto& [name, tensor] : cases_.front().wanted) names.push_back(name);
      break;
    }
    return names;
  }

  [[nodiscard]] uint64_t tensor_bytes() const {
    uint64_t sum = 0;
    for (const auto& [name, tensor] : model_tensors(model_)) sum += tensor.nbytes();
    return sum;
  }

  /// Lets the exporter write into a folder of its own, where all that it leaves shows.
  fs::path write(const fs::path& hidden) {
    const fs::path folder = hidden / "written";
    fs::create_directory(folder);
    fs::path file = folder / file_.filename();
    components_.entering(node_.name, "write", "cannot write the model", [&] {
      const c10::NoGradGuard no_grad;
      exporter_.write(model_, copy_of(cases_.front().in), output_names(), file);
    });
    if (!fs::is_regular_file(fs::symlink_status(file))) fail("the exporter wrote no regular file of the given name");
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path() == file) continue;
      fail(fmt::format(
          "the exporter left \"{}\" beside the file, which would be lost: the one file must hold everything",
          entry.path().filename().string()));
    }
    for (const auto& [name, print] : fingerprints(model_tensors(model_))) {
      if (tensors_.at(name) != print) {
        fail(fmt::format("writing the file changed \"{}\" of the live model. The exporter must work on copies", name));
      }
    }
    return file;
  }

  [[nodiscard]] uint64_t require_size(const fs::path& written) const {
    const uint64_t bytes = fs::file_size(written);
    const uint64_t allowed = allowed_bytes(tensor_bytes());
    if (bytes > allowed) {
      fail(fmt::format(
          "the file has {} bytes, but the model's tensors have {}; at most {} are let through. Usually a tensor was "
          "written with the whole buffer of which it is a view: the exporter must write copies (clone()). A large "
          "constant of the model belongs into an nn::Buffer",
          bytes, tensor_bytes(), allowed));
    }
    return bytes;
  }

  [[nodiscard]] Returned run(const SecondProcess& process, const fs::path& written, const fs::path& hidden) const {
    const core::PluginInfo& plugin = components_.loader().catalogue().plugin_of(*node_.info);
    std::vector<Tensors> inputs;
    for (const ExportCase& each : cases_) inputs.push_back(each.in);
    return run_elsewhere(process, {written, node_.use(), node_.with, plugin.path}, inputs, hidden);
  }

  [[nodiscard]] ExportOutcome name_it(const fs::path& written, core::Json report,
                                      const std::vector<Difference>& differences) const {
    ExportOutcome outcome;
    outcome.node = node_.name;
    outcome.file = file_;
    outcome.batches = verify_.batch;
    report["tolerance"] = {{"rtol", verify_.rtol}, {"atol", verify_.atol}};
    for (const Difference& each : differences) {
      outcome.max_abs_error = std::max(outcome.max_abs_error, each.max_abs);
      report["comparisons"].push_back({{"batch", each.batch},
                                       {"output", each.output},
                                       {"shape", each.shape},
                                       {"magnitude", each.magnitude},
                                       {"max_abs_error", each.max_abs},
                                       {"max_rel_error", each.max_rel}});
    }
    const core::OpenedFile opened = core::open_for_reading(written, ErrorCode::kStorage);
    if (::fsync(opened.file.get()) != 0) throw core::storage_error("write", file_, errno);
    core::write_atomically(report_, core::canonical_text(report));
    if (std::rename(written.c_str(), file_.c_str()) != 0) {
      const int error = errno;
      std::error_code ignored;
      fs::remove(report_, ignored);
      throw core::storage_error("write", file_, error);
    }
    core::sync_folder(file_.parent_path());
    return outcome;
  }

  const Components& components_;
  const core::Node& node_;
  const core::Node& model_node_;
  Model& model_;
  Exporter& exporter_;
  const Verify verify_;
  const fs::path file_;
  const fs::path report_;
  std::vector<ExportCase> cases_;  // the example first
  Fingerprints tensors_;           // of the live model, before the exporter saw it
};

}  // namespace

uint64_t allowed_bytes(uint64_t tensor_bytes) { return tensor_bytes + tensor_bytes / 2 + 256 * 1024; }

ExportOutcome export_model(const Components& components, const std::string& name, Feed& feed, Collectives& ranks,
                           const fs::path& folder, const SecondProcess& process, const core::Json& facts) {
  return Gate(components, name, folder).pass(feed, ranks, process, facts);
}

}  // namespace tenon::engine
