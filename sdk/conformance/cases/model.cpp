// Models: outputs, gradients, and what a trace bakes in.
#include <conformance/case.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <conformance/declared_ports.hpp>
#include <tenon/components/model.hpp>
#include <tenon/error.hpp>
#include <tenon/harness/exporters.hpp>
#include <tenon/harness/gradients.hpp>
#include <tenon/harness/network.hpp>

namespace tenon::conformance {
namespace {

Spec spec_of(const Inputs& inputs) {
  Spec spec;
  for (const ExampleInput& input : inputs) spec.push_back(input.field);
  return spec;
}

harness::Made<Model> built(const Subject& subject, const Trial& trial, at::ScalarType dtype = at::kFloat) {
  auto model = harness::Registry::as<Model>(subject.make(trial.params));
  harness::build(*model, spec_of(trial.inputs), trial.seed, dtype);
  return model;
}

void outputs(Bench& bench) {
  const c10::NoGradGuard no_grad;
  for (const Trial& trial : bench.trials()) {
    const auto model = built(bench.subject(), trial);
    const Tensors in = draw_batch(trial.inputs, trial.seed, 0);
    const auto fixed = [](const Tensors& tensors) {
      Spec spec;
      for (const auto& [name, tensor] : tensors) {
        spec.push_back({name, dtype_of(tensor.scalar_type()), {tensor.sizes().begin(), tensor.sizes().end()}});
      }
      return spec;
    };
    const Tensors out = harness::run(model->root(), in, false);
    const std::string what = contradiction(bench.subject(), trial.params, fixed(in), fixed(out), true);
    if (!what.empty()) return bench.fail(what, "let ports() and forward() say the same", trial.params);
    if (out.empty()) return bench.fail("it gives no output", "give tensors by name from forward()", trial.params);
  }
}

constexpr Case kOutputs{"model.outputs", "Names, types and shapes of its outputs agree with its port rules.", "model",
                        &outputs};
TENON_CASE(kOutputs);

void inputs(Bench& bench) {
  const c10::NoGradGuard no_grad;
  const Trial& trial = bench.trial();
  const auto model = built(bench.subject(), trial);
  const Tensors in = draw_batch(trial.inputs, trial.seed, 0);
  const auto see = [&](const Tensors& tensors, const char* what) {
    Seen seen;
    for (const auto& [name, tensor] : tensors) seen.add(fmt::format("{} {}", what, name), tensor);
    return seen;
  };
  const Seen before = see(in, "input");
  const Seen values = see(harness::tensors_of(model->root()), "value");
  (void)harness::run(model->root(), in, false);
  std::string what = before.difference(see(in, "input"));
  if (!what.empty())
    return bench.fail("it changes its input in place: " + what, "use operations without a trailing _", trial.params);
  what = values.difference(see(harness::tensors_of(model->root()), "value"));
  if (!what.empty())
    bench.fail("evaluation changes it: " + what, "write to buffers only where trains(context) is true", trial.params);
}

constexpr Case kInputs{"model.input", "Evaluation changes neither its inputs nor its parameters and buffers.", "model",
                       &inputs};
TENON_CASE(kInputs);

void gradcheck(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    const auto model = built(bench.subject(), trial, at::kDouble);
    harness::GradientRules rules;
    rules.elements = 6;
    bench.doing("gradients in float64");
    const auto faults = harness::check_gradients(*model, draw_batch(trial.inputs, trial.seed, 0), rules);
    if (faults.empty()) continue;
    return bench.fail(fmt::format("{} gradients are wrong: {}", faults.size(), harness::to_string(faults.front())),
                      "let autograd derive forward(), or mend its backward", trial.params);
  }
}

constexpr Case kGradcheck{"model.gradcheck", "The gradients are those that differences show, in float64.", "model",
                          &gradcheck};
TENON_CASE(kGradcheck);

void reached(Bench& bench) {
  const Trial& trial = bench.trial();
  const auto model = built(bench.subject(), trial);
  at::Tensor total;
  for (const auto& [name, tensor] : harness::run(model->root(), draw_batch(trial.inputs, trial.seed, 0), true)) {
    if (!tensor.requires_grad()) continue;
    total = total.defined() ? total + tensor.square().sum() : tensor.square().sum();
  }
  if (!total.defined()) {
    if (!harness::param_names(model->root()).empty())
      bench.fail("no output depends on its parameters", "keep the graph: detach nothing", trial.params);
    return;
  }
  total.backward();
  model->root().visit_params([&](const std::string& name, nn::Param& slot) {
    if (!slot.value().grad().defined())
      bench.warn(fmt::format("no gradient reaches \"{}\"", name), "use the parameter in forward(), or take it out",
                 trial.params);
  });
}

constexpr Case kReached{"model.trained", "A gradient reaches every parameter.", "model", &reached};
TENON_CASE(kReached);

/// A function of the inputs, recorded for `example`.
torch::jit::Stack run_traced(Model& model, const Tensors& example, const std::vector<std::string>& outputs,
                             const std::vector<Tensors>& others, std::vector<Tensors>& results) {
  torch::jit::Stack stack;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : example) {
    names.push_back(name);
    stack.emplace_back(tensor);
  }
  const auto traced = torch::jit::tracer::trace(
      stack,
      [&](const torch::jit::Stack& in) {
        Tensors tensors;
        for (std::size_t i = 0; i < names.size(); ++i) tensors.set(names[i], in[i].toTensor());
        const Tensors out = harness::run(model.root(), tensors, false);
        std::vector<c10::IValue> values;
        for (const std::string& name : outputs) values.emplace_back(out.at(name));
        return torch::jit::Stack{c10::ivalue::Tuple::create(std::move(values))};
      },
      [](const at::Tensor& /*variable*/) { return std::string(); }, true, false, nullptr, names);
  torch::jit::GraphFunction function(c10::QualifiedName("traced"), traced.first->graph, nullptr);
  for (const Tensors& other : others) {
    torch::jit::Stack in;
    for (const auto& [name, tensor] : other) in.emplace_back(tensor);
    function.run(in);
    Tensors out;
    const auto& elements = in.back().toTupleRef().elements();
    for (std::size_t i = 0; i < outputs.size(); ++i) out.set(outputs[i], elements[i].toTensor());
    results.push_back(std::move(out));
  }
  return stack;
}

/// Axes other than the batch that the model takes in any size: those named by a symbol in the port rules.
std::vector<std::pair<std::string, std::size_t>> spatial_axes(const Subject& subject) {
  std::vector<std::pair<std::string, std::size_t>> axes;
  for (const Json& port : subject.manifest["ports"]["in"]) {
    if (!port.contains("shape") || !port["shape"].is_array()) continue;
    for (std::size_t i = 1; i < port["shape"].size(); ++i) {
      const Json& axis = port["shape"][i];
      const bool symbol = axis.is_string() && axis != "*" && axis != "C" && !axis.get<std::string>().starts_with('$');
      if (symbol && !port["name"].get<std::string>().starts_with('$')) axes.emplace_back(port["name"], i);
    }
  }
  return axes;
}

void trace(Bench& bench) {
  const c10::NoGradGuard no_grad;
  const Subject& subject = bench.subject();
  const Trial trial = bench.trial();
  Inputs symbolic = trial.inputs;  // spatial sizes unknown while it is built
  Inputs larger = trial.inputs;
  const auto axes = spatial_axes(subject);
  for (const auto& [name, axis] : axes) {
    for (std::size_t i = 0; i < symbolic.size(); ++i) {
      if (symbolic[i].field.name != name || axis >= symbolic[i].field.shape.size()) continue;
      symbolic[i].field.shape[axis] = Dim(fmt::format("S{}", axis));
      larger[i].field.shape[axis] = Dim(symbolic[i].field.shape[axis].symbol.empty() ? 6 : 10);
    }
  }
  bool any_size = !axes.empty();
  harness::Made<Model> model = harness::Registry::as<Model>(subject.make(trial.params));
  try {
    harness::build(*model, spec_of(symbolic), trial.seed);
  } catch (const std::exception&) {
    any_size = false;  // it must know the sizes: then only the batch may differ
    model = built(subject, trial);
  }
  model->root().train(false);
  model->root().visit_params([](const std::string&, nn::Param& slot) { slot.set(slot.value().detach()); });
  const Tensors example = draw_batch(trial.inputs, trial.seed, 0, 4);
  std::vector<Tensors> others{draw_batch(trial.inputs, trial.seed, 1, 1), draw_batch(trial.inputs, trial.seed, 2, 9)};
  if (any_size) others.push_back(draw_batch(larger, trial.seed, 3, 3));
  std::vector<std::string> outputs;
  for (const auto& [name, tensor] : harness::run(model->root(), example, false)) outputs.push_back(name);
  std::vector<Tensors> results;
  bench.doing("a trace, run at other sizes");
  const char* const cure =
      "take sizes that enter an operation from tenon::nn::size_of, and reshape by tenon::nn::reshape";
  try {
    (void)run_traced(*model, example, outputs, others, results);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    const std::size_t begin = text.rfind("RuntimeError: ");
    const std::string line = begin == std::string::npos ? text.substr(0, text.find('\n'))
                                                        : text.substr(begin, text.find('\n', begin) - begin);
    return bench.fail(fmt::format("a trace at a batch of 4 cannot run at other sizes: {}", line), cure, trial.params);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Tensors wanted = harness::run(model->root(), others[i], false);
    for (const std::string& name : outputs) {
      const std::string what = harness::difference(name, results[i].at(name), wanted.at(name), Verify());
      if (what.empty()) continue;
      return bench.fail(fmt::format("a trace at a batch of 4 gives other results for inputs of the sizes {}: {}",
                                    c10::str(others[i].begin()->second.sizes()), what),
                        cure, trial.params);
    }
  }
}

constexpr Case kTrace{
    "model.trace",
    "A trace runs at other batch sizes, and other spatial sizes where the port rules leave them open, with "
    "the model's own results.",
    "model", &trace};
TENON_CASE(kTrace);

}  // namespace
}  // namespace tenon::conformance
