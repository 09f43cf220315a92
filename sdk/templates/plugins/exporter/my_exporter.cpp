// exporter:my_exporter: the model as one TorchScript file whose weights are constants of its graph.
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/serialization/import.h>

#include <tenon/components/distributed.hpp>
#include <tenon/components/exporter.hpp>
#include <tenon/registration.hpp>

namespace {

using torch::jit::Stack;
using Names = std::vector<std::string>;

struct MyExporterParams {
  tenon::Verify verify;

  TENON_PARAMS(MyExporterParams, tenon::field(&MyExporterParams::verify, "verify",
                                              "How the file is compared with the live model before it gets its name"))
};

constexpr const char* kInputs = "inputs.txt";  // files inside the archive: a port a line
constexpr const char* kOutputs = "outputs.txt";

std::string lines_of(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

Names names_in(const std::string& lines) {
  Names names;
  std::istringstream stream(lines);
  for (std::string name; std::getline(stream, name);) names.push_back(name);
  return names;
}

/// Copies of the weights in the network's slots while it lives, and what was there before behind it. The engine's own
/// take gradients, which no constant may, and are views of one large buffer, all of which would be written.
class Copies {
 public:
  explicit Copies(tenon::nn::Module& root) {
    root.visit_params([this](const std::string& /*name*/, tenon::nn::Param& slot) { replace(slot); });
    root.visit_buffers([this](const std::string& /*name*/, tenon::nn::Buffer& slot) { replace(slot); });
  }
  ~Copies() {
    for (const std::function<void()>& undo : undo_) undo();
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

 private:
  template <class Slot>
  void replace(Slot& slot) {
    undo_.emplace_back([&slot, value = slot.value()] { slot.set(value); });
    slot.set(slot.value().detach().clone(at::MemoryFormat::Contiguous));
  }

  std::vector<std::function<void()>> undo_;
};

/// One evaluation: tensors in the order of `inputs`, a tuple in the order of `outputs`.
Stack evaluate(tenon::nn::Module& root, const Names& inputs, const Names& outputs, const Stack& stack) {
  tenon::Tensors in;
  for (std::size_t i = 0; i < inputs.size(); ++i) in.set(inputs[i], stack[i].toTensor());
  tenon::OneRank alone;
  tenon::StepContext context(alone, 0, /*training=*/false, 0, at::detail::createCPUGenerator());
  const tenon::Tensors out = root(in, context);
  std::vector<c10::IValue> values;
  for (const std::string& name : outputs) values.emplace_back(out.at(name));
  return {c10::ivalue::Tuple::create(std::move(values))};
}

class MyExporterFile final : public tenon::Runnable {
 public:
  MyExporterFile(torch::jit::Module module, Names inputs, Names outputs)
      : module_(std::move(module)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  [[nodiscard]] tenon::Tensors run(const tenon::Tensors& in) override {
    const c10::NoGradGuard no_grad;
    Stack stack;
    for (const std::string& name : inputs_) stack.emplace_back(in.at(name));
    const c10::IValue result = module_.forward(std::move(stack));
    tenon::Tensors out;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      out.set(outputs_[i], result.toTupleRef().elements().at(i).toTensor());
    }
    return out;
  }

 private:
  torch::jit::Module module_;
  Names inputs_;
  Names outputs_;
};

class MyExporter final : public tenon::Exporter {
 public:
  explicit MyExporter(MyExporterParams params) : params_(std::move(params)) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] std::string extension() const override { return ".pt"; }
  [[nodiscard]] const tenon::Verify& verify() const override { return params_.verify; }

  void write(tenon::Model& model, const tenon::Tensors& example, const Names& outputs,
             const std::filesystem::path& file) override {
    const c10::NoGradGuard no_grad;
    const Copies copies(model.root());
    Names inputs;
    Stack stack;
    for (const auto& [name, tensor] : example) {
      inputs.push_back(name);
      stack.emplace_back(tensor);
    }
    torch::jit::Module module(c10::QualifiedName("__torch__.MyExporter"));
    tenon::nn::Module::clear_failure();
    try {
      const auto traced = torch::jit::tracer::trace(
          stack, [&](const Stack& in) { return evaluate(model.root(), inputs, outputs, in); },
          [](const at::Tensor& /*variable*/) { return std::string(); }, /*strict=*/true, /*force_outplace=*/false,
          &module, inputs);
      const c10::QualifiedName forward(*module.type()->name(), "forward");
      module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(forward, traced.first->graph));
    } catch (const c10::Error& error) {
      cannot_trace(error.what_without_backtrace());
    } catch (const tenon::Error& error) {
      cannot_trace(error.what());
    }
    try {
      module.save(file.string(), {{kInputs, lines_of(inputs)}, {kOutputs, lines_of(outputs)}});
    } catch (const c10::Error& error) {
      throw tenon::Error(tenon::ErrorCode::kStorage,
                         file.string() + " cannot be written: " + error.what_without_backtrace());
    }
  }

  [[nodiscard]] std::unique_ptr<tenon::Runnable> open(const std::filesystem::path& file) override {
    torch::jit::ExtraFilesMap names{{kInputs, ""}, {kOutputs, ""}};
    try {
      torch::jit::Module module = torch::jit::load(file.string(), at::kCPU, names);
      return std::make_unique<MyExporterFile>(std::move(module), names_in(names[kInputs]), names_in(names[kOutputs]));
    } catch (const c10::Error& error) {
      throw tenon::Error(tenon::ErrorCode::kVerification,
                         file.string() + " cannot be loaded: " + error.what_without_backtrace());
    }
  }

 private:
  [[noreturn]] static void cannot_trace(const std::string& why) {
    throw tenon::Error(tenon::ErrorCode::kVerification, "the model cannot be traced, at its module \"" +
                                                            tenon::nn::Module::last_failure() + "\": " + why);
  }

  MyExporterParams params_;
};

}  // namespace

TENON_COMPONENT(MyExporter, MyExporterParams, "my_exporter",
                "One TorchScript file whose weights are constants of its graph")
