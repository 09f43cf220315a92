// Writing, running elsewhere, comparing, naming.
#include <engine/export_gate.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <core/storage/atomic_file.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/sha256.hpp>
#include <engine/child_process.hpp>
#include <engine/step_graph.hpp>
#include <engine/tensor_files.hpp>
#include <engine/training.hpp>
#include <tenon/components/exporter.hpp>

namespace tenon::engine {
namespace {

constexpr std::chrono::seconds kLimit{300};

/// One row of the shape matrix.
struct Comparison {
  int64_t batch = 0;
  std::string output;
  std::string shape;
  double max_abs = 0;
  double max_rel = 0;
  bool equal_within = false;
};

/// Everything about one export, from the exporter to the removal of what a failure leaves.
class Gate {
 public:
  Gate(const Components& components, const std::string& name, Feed& feed, Collectives& ranks,
       std::filesystem::path folder)
      : components_(components),
        node_(components.graph().at(name)),
        model_node_(components.graph().at(node_.of.front())),
        exporter_(components.node<Exporter>(name)),
        feed_(feed),
        ranks_(ranks),
        folder_(std::move(folder)) {}

  ~Gate() {
    std::error_code ignored;
    for (const std::filesystem::path& file : leftovers_) std::filesystem::remove(file, ignored);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  ExportOutcome pass(const std::filesystem::path& program, const core::Json& facts) {
    collect_inputs();
    const std::filesystem::path unverified = temporary("unverified" + exporter_.extension());
    write(unverified);
    std::vector<Comparison> comparisons;
    for (const int64_t batch : exporter_.verify().batch) compare(program, unverified, batch, comparisons);
    for (const Comparison& each : comparisons) {
      if (!each.equal_within) refuse(each);
    }
    return name_it(unverified, comparisons, facts);
  }

 private:
  std::filesystem::path temporary(const std::string& what) {
    leftovers_.push_back(folder_ / fmt::format(".{}.{}", node_.name, what));
    return leftovers_.back();
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw PlacedError(core::diagnose(components_.resolved(), node_, Error(ErrorCode::kVerification, message)));
  }

  /// Real samples, in evaluation, as the model gets them on its path.
  void collect_inputs() {
    feed_.start(0, 0, 1);
    std::optional<DeviceBatch> batch = feed_.next();
    if (!batch || batch->samples == 0) fail("there is no sample to verify the file with");
    const c10::NoGradGuard no_grad;
    const StepGraph graph(components_, feed_.path());
    const Values values =
        graph.forward(std::move(batch->fields), ranks_, 0, false, 0, make_generator(c10::Device(c10::kCPU)));
    samples_ = StepGraph::inputs(model_node_, values);
  }

  /// The first `batch` samples; begins anew when there are fewer.
  [[nodiscard]] Tensors inputs_of(int64_t batch) const {
    Tensors in;
    for (const auto& [port, tensor] : samples_) {
      const at::Tensor index = at::arange(batch, at::TensorOptions(at::kLong)).remainder(tensor.size(0));
      in.set(port, tensor.cpu().index_select(0, index));
    }
    return in;
  }

  [[nodiscard]] std::vector<std::string> output_names() const {
    std::vector<std::string> names;
    for (const Port& port : model_node_.info->ports.out) names.push_back(port.name);
    return names;
  }

  void write(const std::filesystem::path& file) {
    const std::vector<int64_t>& verified = exporter_.verify().batch;
    int64_t batch = 4;  // no size that is compared: what the trace bakes in shows
    while (std::find(verified.begin(), verified.end(), batch) != verified.end()) ++batch;
    components_.entering(node_.name, "cannot write the model", [&] {
      const c10::NoGradGuard no_grad;
      exporter_.write(components_.node<Model>(model_node_.name), inputs_of(batch), output_names(), file);
    });
  }

  void compare(const std::filesystem::path& program, const std::filesystem::path& file, int64_t batch,
               std::vector<Comparison>& comparisons) {
    const std::filesystem::path inputs = temporary(fmt::format("{}.in.safetensors", batch));
    const std::filesystem::path outputs = temporary(fmt::format("{}.out.safetensors", batch));
    const Tensors in = inputs_of(batch);
    write_tensors(inputs, in);
    const core::PluginInfo& plugin = components_.loader().catalogue().plugin_of(*node_.info);
    const ChildResult child = run_child(program,
                                        {"artefact-run", "--plugin-path", plugin.path.parent_path().string(),
                                         "--component", node_.use(), "--with", core::line_text(node_.with), "--file",
                                         file.string(), "--inputs", inputs.string(), "--outputs", outputs.string()},
                                        temporary("messages"), kLimit);
    if (child.timed_out) fail(fmt::format("the file did not come back within {} s at batch {}", kLimit.count(), batch));
    if (child.exit_code != 0) {
      fail(fmt::format("the file does not run alone in a second process at batch {} (exit {}): {}", batch,
                       child.exit_code, child.messages));
    }
    const Tensors got = read_tensors(outputs);
    StepContext context(ranks_, 0, false, 0, make_generator(c10::Device(c10::kCPU)));
    const c10::NoGradGuard no_grad;
    const Tensors wanted = components_.node<Model>(model_node_.name).root()(in, context);
    for (const std::string& name : output_names()) {
      comparisons.push_back(difference(batch, name, got.at(name), wanted.at(name)));
    }
  }

  [[nodiscard]] Comparison difference(int64_t batch, const std::string& name, const at::Tensor& got,
                                      const at::Tensor& wanted) const {
    if (got.sizes() != wanted.sizes() || got.scalar_type() != wanted.scalar_type()) {
      fail(
          fmt::format("at batch {} the output \"{}\" of the file is {} where the model gives {}: a size was baked in. "
                      "Take sizes from nn::size_of, and shapes through nn::reshape",
                      batch, name, describe(got), describe(wanted)));
    }
    Comparison comparison{batch, name, describe(wanted), 0, 0, true};
    if (wanted.numel() == 0) return comparison;
    const at::Tensor a = got.to(at::kDouble);
    const at::Tensor b = wanted.to(at::kDouble);
    const Verify& verify = exporter_.verify();
    comparison.max_abs = (a - b).abs().max().item<double>();
    comparison.max_rel = ((a - b).abs() / b.abs().clamp_min(1e-12)).max().item<double>();
    comparison.equal_within = at::allclose(a, b, verify.rtol, verify.atol);
    return comparison;
  }

  [[noreturn]] void refuse(const Comparison& each) const {
    fail(fmt::format(
        "at batch {} the output \"{}\" of the file differs from the live model by {:.3g} (relative {:.3g}), "
        "more than atol {:g} and rtol {:g}; no file was left under the final name",
        each.batch, each.output, each.max_abs, each.max_rel, exporter_.verify().atol, exporter_.verify().rtol));
  }

  ExportOutcome name_it(const std::filesystem::path& unverified, const std::vector<Comparison>& comparisons,
                        const core::Json& facts) {
    ExportOutcome outcome;
    outcome.node = node_.name;
    outcome.file = folder_ / (node_.name + exporter_.extension());
    outcome.batches = exporter_.verify().batch;
    core::Json report;
    report["format"] = 1;
    report["exporter"] = node_.use();
    report["model"] = model_node_.name;
    report["sha256"] = core::sha256_file(unverified);
    report["bytes"] = std::filesystem::file_size(unverified);
    report["facts"] = facts;
    report["tolerance"] = {{"rtol", exporter_.verify().rtol}, {"atol", exporter_.verify().atol}};
    for (const Comparison& each : comparisons) {
      outcome.max_abs_error = std::max(outcome.max_abs_error, each.max_abs);
      report["comparisons"].push_back({{"batch", each.batch},
                                       {"output", each.output},
                                       {"shape", each.shape},
                                       {"max_abs_error", each.max_abs},
                                       {"max_rel_error", each.max_rel}});
    }
    core::write_atomically(outcome.file.string() + ".report.json", core::canonical_text(report));
    std::filesystem::rename(unverified, outcome.file);
    return outcome;
  }

  const Components& components_;
  const core::Node& node_;
  const core::Node& model_node_;
  Exporter& exporter_;
  Feed& feed_;
  Collectives& ranks_;
  std::filesystem::path folder_;
  Tensors samples_;
  std::vector<std::filesystem::path> leftovers_;
};

}  // namespace

ExportOutcome export_model(const Components& components, const std::string& name, Feed& feed, Collectives& ranks,
                           const std::filesystem::path& folder, const std::filesystem::path& program,
                           const core::Json& facts) {
  return Gate(components, name, feed, ranks, folder).pass(program, facts);
}

void run_artefact(const ArtefactRequest& request) {
  core::Loader loader(request.catalogue);
  const core::ComponentHandle handle = loader.create(request.component, request.with);
  const c10::NoGradGuard no_grad;
  const std::unique_ptr<Runnable> runnable = handle.as<Exporter>().open(request.file);
  write_tensors(request.outputs, runnable->run(read_tensors(request.inputs)));
}

}  // namespace tenon::engine
