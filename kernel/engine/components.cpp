// Making components and placing what they throw.
#include <engine/components.hpp>

#include <algorithm>
#include <new>
#include <string_view>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <engine/engine.hpp>
#include <engine/streams.hpp>
#include <tenon/components/derived.hpp>
#include <tenon/nn/module.hpp>

namespace tenon::engine {
namespace {

/// The message proper: libtorch appends its C++ frames, and TorchScript puts the whole traceback of its own code first.
std::string first_paragraph(std::string text) {
  constexpr std::string_view kInterpreter = "The following operation failed in the TorchScript interpreter.";
  constexpr std::string_view kCause = "\nRuntimeError: ";
  const std::size_t cause = text.rfind(kCause);
  if (text.starts_with(kInterpreter) && cause != std::string::npos) text.erase(0, cause + kCause.size());
  const std::size_t trace = text.find("\nException raised from");
  if (trace != std::string::npos) text.erase(trace);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

Error current_error(ErrorCode otherwise) {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const c10::OutOfMemoryError& error) {
    return {ErrorCode::kMemory, first_paragraph(error.what_without_backtrace())};
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kMemory, "out of memory"};
  } catch (const c10::Error& error) {
    // The CPU's allocator throws its own kind of message, not OutOfMemoryError.
    const bool memory =
        std::string_view(error.what_without_backtrace()).find("can't allocate memory") != std::string_view::npos;
    return {memory ? ErrorCode::kMemory : otherwise, first_paragraph(error.what_without_backtrace())};
  } catch (const std::exception& error) {
    return {otherwise, first_paragraph(error.what())};
  } catch (...) {
    return {otherwise, "threw an exception that does not derive from std::exception"};
  }
}

bool owns_component(const core::Node& node) { return node.call.empty() && node.kind != "loader"; }

Components::Components(const core::Graph& graph, const core::Resolved& resolved, core::Catalogue catalogue)
    : graph_(graph), resolved_(resolved), loader_(std::move(catalogue)) {
  for (const core::Node& node : graph.nodes) {
    if (!owns_component(node)) continue;
    try {
      handles_.push_back(std::make_unique<core::ComponentHandle>(loader_.create(node.use(), node.with, node.name)));
    } catch (...) {
      throw PlacedError(core::diagnose(resolved_, node, current_error(ErrorCode::kPlugin)));
    }
    nodes_.emplace(node.name, handles_.back().get());
    callees_.emplace(node.name, handles_.back()->callee());
  }
  for (const core::Node& node : graph.nodes) {
    if (node.call.empty()) continue;
    nodes_.emplace(node.name, nodes_.at(node.call));
    const core::Callee& owner = *callees_.at(node.call);
    callees_.emplace(node.name, &core::callee(owner.plugin, owner.version, owner.path, owner.component, node.name));
  }
  for (const core::Node& node : graph.nodes) derive(node);
  stop_ = attach(graph.stop);
  observe_ = attach(graph.observe);
}

void Components::derive(const core::Node& node) {
  if (node.kind != "dataset") return;
  for (const std::string& name : node.inputs) {
    const core::Node& input = graph_.at(name);
    if (input.kind == "transform" && !streams_.contains(name))
      streams_.emplace(name, make_stream_dataset(*this, input));
  }
  void* const ability = component(node.name).ability(Derived::kAbility);
  if (ability == nullptr) return;
  entering(node.name, "derive", "cannot tell its fields", [&] {
    std::vector<Spec> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(input(name).spec());
    static_cast<Derived*>(ability)->derive(inputs);
  });
}

Dataset& Components::input(std::string_view name) const {
  const auto stream = streams_.find(name);
  return stream == streams_.end() ? node<Dataset>(name) : *stream->second;
}

void Components::give_up(const core::Node& node) const {
  callee(node.name)->given_up = true;
  nodes_.find(node.name)->second->callee()->given_up = true;  // another one where the node calls the component's
  for (const std::string& input : node.inputs) give_up(graph_.at(input));
}

void Components::abandon_observers() {
  for (std::vector<Observing>* const list : {&stop_, &observe_}) {
    static_cast<void>(new std::vector<Observing>(std::move(*list)));  // on purpose: it outlives everything
    list->clear();
  }
}

Components::~Components() {
  observe_.clear();
  stop_.clear();
  const bool given_up = std::ranges::any_of(callees_, [](const auto& each) { return each.second->given_up.load(); });
  if (given_up)
    static_cast<void>(new (std::nothrow) auto(std::move(streams_)));  // on purpose: a thread that hangs may come back
  streams_.clear();
  nodes_.clear();
  while (!handles_.empty()) handles_.pop_back();
}

std::vector<Components::Observing> Components::attach(const std::vector<core::Attached>& attached) {
  std::vector<Observing> all;
  for (const core::Attached& each : attached) {
    try {
      all.push_back({&each, loader_.create(each.use, each.with, each.pointer.substr(1))});
    } catch (...) {
      rethrow_placed(each);
    }
  }
  return all;
}

void Components::rethrow_placed(const core::Attached& attached) const {
  throw PlacedError(core::diagnose(resolved_, attached, current_error(ErrorCode::kPlugin)));
}

void Components::rethrow_placed(std::string_view node, std::string_view doing) const {
  const std::string module = nn::Module::last_failure();
  nn::Module::clear_failure();
  try {
    throw;
  } catch (const PlacedError&) {
    throw;  // told already, closer to its cause
  } catch (...) {
    const Error error = current_error(ErrorCode::kPlugin);
    const std::string where = module.empty() ? "" : fmt::format(", in its module \"{}\"", module);
    const std::string message = fmt::format("{}{}: {}", doing, where, error.what());
    throw PlacedError(core::diagnose(resolved_, graph_.at(node), Error(error.code(), message, error.pointer())));
  }
}

}  // namespace tenon::engine
