// Loading and running a TorchScript file.
#include <torchscript/runnable.hpp>

#include <string>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <tenon/error.hpp>
#include <torchscript/metadata.hpp>

namespace tenon::exporters {
namespace {

class TorchscriptRunnable final : public Runnable {
 public:
  TorchscriptRunnable(torch::jit::Module module, Metadata metadata)
      : module_(std::move(module)), metadata_(std::move(metadata)) {}

  [[nodiscard]] Tensors run(const Tensors& in) override {
    const c10::NoGradGuard no_grad;
    std::vector<c10::IValue> arguments;
    arguments.reserve(metadata_.inputs.size());
    for (const std::string& name : metadata_.inputs) arguments.emplace_back(in.at(name));
    try {
      return named(module_.forward(std::move(arguments)));
    } catch (const c10::Error& error) {
      throw Error(ErrorCode::kVerification, std::string("the file does not run: ") + error.what_without_backtrace());
    }
  }

 private:
  [[nodiscard]] Tensors named(const c10::IValue& result) const {
    Tensors out;
    if (result.isTensor()) {
      out.set(metadata_.outputs.at(0), result.toTensor());
      return out;
    }
    const std::vector<c10::IValue>& elements = result.toTupleRef().elements().vec();
    for (std::size_t i = 0; i < elements.size(); ++i) out.set(metadata_.outputs.at(i), elements[i].toTensor());
    return out;
  }

  torch::jit::Module module_;
  Metadata metadata_;
};

torch::jit::Module load(const std::filesystem::path& file, torch::jit::ExtraFilesMap& extra) {
  try {
    return torch::jit::load(file.string(), at::kCPU, extra);
  } catch (const c10::Error& error) {
    throw Error(ErrorCode::kVerification, file.string() + " cannot be loaded: " + error.what_without_backtrace());
  }
}

}  // namespace

std::unique_ptr<Runnable> open_torchscript(const std::filesystem::path& file) {
  torch::jit::ExtraFilesMap extra{{kMetadataFile, ""}};
  torch::jit::Module module = load(file, extra);
  if (extra.at(kMetadataFile).empty()) {
    throw Error(ErrorCode::kVerification,
                file.string() + " lacks " + kMetadataFile + ": exporter:torchscript did not write it");
  }
  return std::make_unique<TorchscriptRunnable>(std::move(module), parse_params<Metadata>(extra.at(kMetadataFile)));
}

Tensors torchscript_tensors(const std::filesystem::path& file) {
  torch::jit::ExtraFilesMap extra;
  const torch::jit::Module module = load(file, extra);
  Tensors tensors;
  for (const auto& parameter : module.named_parameters()) tensors.set(parameter.name, parameter.value);
  for (const auto& buffer : module.named_buffers()) tensors.set(buffer.name, buffer.value);
  return tensors;
}

}  // namespace tenon::exporters
