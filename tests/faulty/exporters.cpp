// An exporter that goes wrong after an honest trace, and a loaded file that misbehaves.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>

#include <tenon/components/exporter.hpp>
#include <tenon/registration.hpp>
#include <torchscript/metadata.hpp>
#include <torchscript/runnable.hpp>
#include <torchscript/trace.hpp>

namespace {

/// First what goes wrong in writing, then what goes wrong in the second process.
enum class ExportFault {
  kNone,
  kScaledWeight,
  kChangedElement,
  kFlatViews,
  kTraining,
  kChangesModel,
  kSecondFile,
  kNothing,
  kUnloadable,
  kRenames,
  kDropsOutput,
  kAddsOutput,
  kOtherType,
  kNaN,
  kCounts,
  kChangesFile,
  kThrowsLate,
  kHangs,
  kCrashes
};
TENON_ENUM(ExportFault, "none", "scaled_weight", "changed_element", "flat_views", "training", "changes_model",
           "second_file", "nothing", "unloadable", "renames", "drops_output", "adds_output", "other_type", "nan",
           "counts", "changes_file", "throws_late", "hangs", "crashes")

struct FaultyExporterParams {
  ExportFault fault = ExportFault::kNone;
  double amount = 1e-3;
  bool stores = false;
  tenon::Verify verify;

  TENON_PARAMS(FaultyExporterParams, tenon::field(&FaultyExporterParams::fault, "fault", "What goes wrong"),
               tenon::field(&FaultyExporterParams::amount, "amount", "By how much a weight is changed, relative"),
               tenon::field(&FaultyExporterParams::stores, "stores", "Whether it tells what its files store"),
               tenon::field(&FaultyExporterParams::verify, "verify", "How the file is compared"))
};

/// Names of all parameters on the tree of modules, with their places.
struct Place {
  torch::jit::Module owner;
  std::string name;
};
std::vector<Place> parameters_of(const torch::jit::Module& module) {
  std::vector<Place> places;
  for (const auto& parameter : module.named_parameters(/*recurse=*/false)) places.push_back({module, parameter.name});
  for (const torch::jit::Module& child : module.children()) {
    for (Place& place : parameters_of(child)) places.push_back(std::move(place));
  }
  return places;
}

/// The last weight, scaled as a whole or in its first element.
void change_weight(const torch::jit::Module& module, double amount, bool one_element) {
  std::vector<Place> places = parameters_of(module);
  const auto weight = std::ranges::find(places.rbegin(), places.rend(), std::string("weight"), &Place::name);
  at::Tensor value = weight->owner.attr(weight->name).toTensor();
  (one_element ? value.view({-1}).narrow(0, 0, 1) : value).mul_(1 + amount);
}

/// Puts all parameters into one buffer that has room for gradients and two moments as well, and each view of it into
/// the module.
void make_views(const torch::jit::Module& module) {
  std::vector<Place> places = parameters_of(module);
  int64_t total = 0;
  for (const Place& place : places) total += place.owner.attr(place.name).toTensor().numel();
  const at::Tensor flat = at::zeros({4 * total});
  int64_t offset = 0;
  for (Place& place : places) {
    const at::Tensor value = place.owner.attr(place.name).toTensor();
    const at::Tensor view = flat.narrow(0, offset, value.numel()).view(value.sizes());
    view.copy_(value);
    place.owner.setattr(place.name, view);
    offset += value.numel();
  }
}

/// What a trace in training records: dropout draws, batch norm takes the statistics of the batch.
void set_training(torch::jit::Block* block) {
  for (torch::jit::Node* const node : block->nodes()) {
    for (torch::jit::Block* const inner : node->blocks()) set_training(inner);
    const std::string_view kind = node->kind().toQualString();
    if (kind != "aten::dropout" && kind != "aten::batch_norm") continue;
    const torch::jit::WithInsertPoint here(node);
    node->replaceInput(kind == "aten::dropout" ? 2 : 5, node->owningGraph()->insertConstant(true));
  }
}

class FaultyRunnable final : public tenon::Runnable {
 public:
  FaultyRunnable(std::unique_ptr<tenon::Runnable> honest, ExportFault fault, std::filesystem::path file)
      : honest_(std::move(honest)), fault_(fault), file_(std::move(file)) {}

  [[nodiscard]] tenon::Tensors run(const tenon::Tensors& in) override {
    ++calls_;
    tenon::Tensors out = honest_->run(in);
    at::Tensor first = out.begin()->second;
    const std::string& name = out.begin()->first;
    switch (fault_) {
      case ExportFault::kRenames: return {{"scores", first}};
      case ExportFault::kDropsOutput: return {};
      case ExportFault::kAddsOutput: return {{name, first}, {"features", first}};
      case ExportFault::kOtherType: return {{name, first.to(at::kDouble)}};
      case ExportFault::kNaN: first.view({-1}).narrow(0, 0, 1).fill_(std::numeric_limits<double>::quiet_NaN()); break;
      case ExportFault::kCounts: return {{name, first + 1e-7 * calls_}};
      case ExportFault::kChangesFile: std::ofstream(file_, std::ios::app) << "more"; break;
      case ExportFault::kThrowsLate:
        if (first.size(0) == 17) throw std::runtime_error("seventeen is too many");
        break;
      case ExportFault::kHangs: std::this_thread::sleep_for(std::chrono::hours(1)); break;
      case ExportFault::kCrashes: std::raise(SIGSEGV); break;
      default: break;
    }
    return out;
  }

 private:
  std::unique_ptr<tenon::Runnable> honest_;
  ExportFault fault_;
  std::filesystem::path file_;
  int calls_ = 0;
};

class FaultyExporter final : public tenon::Exporter, public tenon::StoredTensors {
 public:
  explicit FaultyExporter(FaultyExporterParams params) : params_(std::move(params)) {}

  static std::vector<std::string> abilities() { return {kAbility}; }
  [[nodiscard]] void* ability(const char* id) noexcept override {
    return params_.stores && std::string_view(id) == kAbility ? static_cast<StoredTensors*>(this) : nullptr;
  }

  [[nodiscard]] std::string extension() const override { return ".pt"; }
  [[nodiscard]] const tenon::Verify& verify() const override { return params_.verify; }

  void write(tenon::Model& model, const tenon::Tensors& example, const std::vector<std::string>& outputs,
             const std::filesystem::path& file) override {
    torch::jit::Module module = tenon::exporters::trace(model.root(), example, outputs);
    switch (params_.fault) {
      case ExportFault::kScaledWeight: change_weight(module, params_.amount, false); break;
      case ExportFault::kChangedElement: change_weight(module, params_.amount, true); break;
      case ExportFault::kFlatViews: make_views(module); break;
      case ExportFault::kTraining: set_training(module.get_method("forward").graph()->block()); break;
      case ExportFault::kChangesModel:
        model.root().visit_params(
            [](const std::string&, tenon::nn::Param& slot) { slot.value().detach().mul_(1.001); });
        break;
      case ExportFault::kSecondFile: std::ofstream(file.string() + ".data") << "weights"; break;
      case ExportFault::kNothing: return;
      case ExportFault::kUnloadable: std::ofstream(file) << "no archive"; return;
      default: break;
    }
    tenon::exporters::Metadata metadata;
    for (const auto& [name, tensor] : example) metadata.inputs.push_back(name);
    metadata.outputs = outputs;
    module.save(file.string(), {{tenon::exporters::kMetadataFile, to_json(metadata)}});
  }

  [[nodiscard]] std::unique_ptr<tenon::Runnable> open(const std::filesystem::path& file) override {
    return std::make_unique<FaultyRunnable>(tenon::exporters::open_torchscript(file), params_.fault, file);
  }

  [[nodiscard]] tenon::Tensors stored(const std::filesystem::path& file) override {
    return tenon::exporters::torchscript_tensors(file);
  }

 private:
  FaultyExporterParams params_;
};

}  // namespace

TENON_COMPONENT(FaultyExporter, FaultyExporterParams, "faulty", "A TorchScript exporter with a planted fault")
