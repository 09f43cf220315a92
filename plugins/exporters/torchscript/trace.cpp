// Tracing: the network's tensors are registered under their names on a tree of TorchScript modules, which the tracer
// takes as the object itself; a tensor that it meets in an operation is then an attribute and no baked constant.
#include <torchscript/trace.hpp>

#include <functional>
#include <memory>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <tenon/components/distributed.hpp>
#include <tenon/error.hpp>

namespace tenon::exporters {
namespace {

/// Puts a copy of its own into every slot of a network while it lives. A trace takes a tensor for the attribute it is
/// only by identity, and what the engine keeps in a slot may be a view of one buffer over the whole network, all of which
/// would be written with each view.
class OwnTensors {
 public:
  explicit OwnTensors(nn::Module& root) {
    root.visit_params([this](const std::string& /*name*/, nn::Param& slot) { replace(slot); });
    root.visit_buffers([this](const std::string& /*name*/, nn::Buffer& slot) { replace(slot); });
  }
  ~OwnTensors() {
    for (const std::function<void()>& undo : undo_) undo();
  }
  OwnTensors(const OwnTensors&) = delete;
  OwnTensors& operator=(const OwnTensors&) = delete;

 private:
  template <class Slot>
  void replace(Slot& slot) {
    undo_.emplace_back([&slot, value = slot.value()] { slot.set(value); });
    slot.set(slot.value().detach().clone(at::MemoryFormat::Contiguous));
  }

  std::vector<std::function<void()>> undo_;
};

/// The tree of TorchScript modules that mirrors `module`. All types lie in one compilation unit, each under a name of its
/// own that TorchScript makes unique.
torch::jit::Module mirror(const nn::Module& module, const std::shared_ptr<torch::jit::CompilationUnit>& unit) {
  torch::jit::Module mirrored(c10::QualifiedName("__torch__.tenon.Module"), unit, /*shouldMangle=*/true);
  for (const nn::Param* const slot : module.params()) {
    mirrored.register_parameter(slot->name(), slot->value(), /*is_buffer=*/false);
  }
  for (const nn::Buffer* const slot : module.buffers()) mirrored.register_buffer(slot->name(), slot->value());
  for (const nn::Module* const child : module.children()) mirrored.register_module(child->name(), mirror(*child, unit));
  return mirrored;
}

/// Python's eval() and train() look for this attribute. After the trace: the tracer takes no attribute but tensors.
void add_training_flag(torch::jit::Module module) {
  for (torch::jit::Module child : module.children()) add_training_flag(child);
  module.register_attribute("training", c10::BoolType::get(), false);
}

torch::jit::Stack run(nn::Module& root, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                      const torch::jit::Stack& stack) {
  Tensors in;
  for (std::size_t i = 0; i < inputs.size(); ++i) in.set(inputs[i], stack[i].toTensor());
  OneRank ranks;
  StepContext context(ranks, 0, /*training=*/false, 0, at::detail::createCPUGenerator());
  const Tensors out = root(in, context);
  std::vector<c10::IValue> values;
  values.reserve(outputs.size());
  for (const std::string& name : outputs) values.emplace_back(out.at(name));
  if (values.size() == 1) return {values.front()};
  return {c10::ivalue::Tuple::create(std::move(values))};
}

[[noreturn]] void fail(const std::string& why) {
  const std::string where = nn::Module::last_failure();
  throw Error(
      ErrorCode::kVerification,
      "the model cannot be traced" + (where.empty() ? std::string() : " at module \"" + where + "\"") + ": " + why);
}

}  // namespace

torch::jit::Module trace(nn::Module& root, const Tensors& example, const std::vector<std::string>& outputs) {
  const c10::NoGradGuard no_grad;
  const OwnTensors own(root);
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Module module = mirror(root, unit);
  std::vector<std::string> inputs;
  torch::jit::Stack stack;
  for (const auto& [name, tensor] : example) {
    inputs.push_back(name);
    stack.emplace_back(tensor);
  }
  nn::Module::clear_failure();
  try {
    const auto recorded = torch::jit::tracer::trace(
        stack, [&](const torch::jit::Stack& in) { return run(root, inputs, outputs, in); },
        [](const at::Tensor& /*variable*/) { return std::string(); }, /*strict=*/true, /*force_outplace=*/false,
        &module, inputs);
    const c10::QualifiedName name(*module.type()->name(), "forward");
    module.type()->addMethod(unit->create_function(name, recorded.first->graph));
  } catch (const Error& error) {
    fail(error.what());
  } catch (const c10::Error& error) {
    fail(error.what_without_backtrace());
  }
  add_training_flag(module);
  return module;
}

}  // namespace tenon::exporters
