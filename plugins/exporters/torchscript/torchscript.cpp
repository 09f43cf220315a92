// exporter:torchscript: the model as one .pt file that libtorch and Python load without Tenon.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>

#include <tenon/components/exporter.hpp>
#include <tenon/error.hpp>
#include <tenon/registration.hpp>
#include <torchscript/metadata.hpp>
#include <torchscript/runnable.hpp>
#include <torchscript/trace.hpp>

namespace tenon::exporters {

struct TorchscriptParams {
  std::map<std::string, std::vector<int64_t>> dynamic;
  Verify verify;

  TENON_PARAMS(
      TorchscriptParams,
      field(&TorchscriptParams::dynamic, "dynamic",
            "Axes of each input whose size may differ from call to call, told to those who use the file; axis 0 of "
            "an input that is not named")
          .port_reference(),
      field(&TorchscriptParams::verify, "verify",
            "How the file is compared with the live model before it gets its name"))
};

class Torchscript final : public Exporter, public StoredTensors {
 public:
  explicit Torchscript(TorchscriptParams params) : params_(std::move(params)) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<StoredTensors*>(this) : nullptr;
  }

  [[nodiscard]] std::string extension() const override { return ".pt"; }
  [[nodiscard]] const Verify& verify() const override { return params_.verify; }

  void write(Model& model, const Tensors& example, const std::vector<std::string>& outputs,
             const std::filesystem::path& file) override {
    const Metadata metadata = describe(example, outputs);
    const torch::jit::Module module = trace(model.root(), example, outputs);
    try {
      module.save(file.string(), {{kMetadataFile, to_json(metadata)}});
    } catch (const c10::Error& error) {
      throw Error(ErrorCode::kStorage, file.string() + " cannot be written: " + error.what_without_backtrace());
    }
  }

  [[nodiscard]] std::unique_ptr<Runnable> open(const std::filesystem::path& file) override {
    return open_torchscript(file);
  }

  [[nodiscard]] Tensors stored(const std::filesystem::path& file) override { return torchscript_tensors(file); }

 private:
  [[nodiscard]] Metadata describe(const Tensors& example, const std::vector<std::string>& outputs) const {
    require_inputs(example);
    Metadata metadata;
    metadata.outputs = outputs;
    for (const auto& [name, tensor] : example) {
      metadata.inputs.push_back(name);
      const auto given = params_.dynamic.find(name);
      metadata.dynamic[name] = given == params_.dynamic.end() ? std::vector<int64_t>{0} : given->second;
    }
    return metadata;
  }

  void require_inputs(const Tensors& example) const {
    for (const auto& [name, axes] : params_.dynamic) {
      const at::Tensor* const input = example.find(name);
      if (input == nullptr) {
        throw Error(ErrorCode::kConfig, "the model has no input \"" + name + "\"; its inputs are: " + names(example),
                    "/dynamic/" + name);
      }
      for (const int64_t axis : axes) {
        if (axis >= 0 && axis < input->dim()) continue;
        throw Error(ErrorCode::kConfig,
                    "\"" + name + "\" has no axis " + std::to_string(axis) + ": it has " +
                        std::to_string(input->dim()) + " axes, counted from 0",
                    "/dynamic/" + name);
      }
    }
  }

  static std::string names(const Tensors& tensors) {
    std::string text;
    for (const auto& [name, tensor] : tensors) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  TorchscriptParams params_;
};

TENON_COMPONENT(Torchscript, TorchscriptParams, "torchscript",
                "One .pt file with graph and weights that libtorch and Python load without Tenon")

}  // namespace tenon::exporters
