// The opened components of one run, by node.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/plugin/loader.hpp>
#include <core/resolve/resolve.hpp>
#include <tenon/component.hpp>
#include <tenon/components/dataset.hpp>

namespace tenon::engine {

class StreamDataset;

/// A node that has a component of its own: neither a further use of another's, nor the kernel's loader.
[[nodiscard]] bool owns_component(const core::Node& node);

/// Makes the component of every node and of every observer, and turns what they throw into errors with their place.
/// Destroys them in reverse. [trainer]
class Components {
 public:
  Components(const core::Graph& graph, const core::Resolved& resolved, core::Catalogue catalogue);
  Components(const Components&) = delete;
  Components& operator=(const Components&) = delete;
  ~Components();

  [[nodiscard]] const core::Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] const core::Resolved& resolved() const noexcept { return resolved_; }
  [[nodiscard]] const core::Loader& loader() const noexcept { return loader_; }

  /// What crash reports call a node's component; for Entered around calls that no `entering` surrounds.
  [[nodiscard]] const core::Callee* callee(std::string_view node) const { return callees_.find(node)->second; }

  /// A component that the pipeline leaves to the kernel, with its default parameters. \throws Error.
  [[nodiscard]] core::ComponentHandle create(std::string_view id) { return loader_.create(id, core::Json::object()); }

  template <class Interface>
  [[nodiscard]] Interface& node(std::string_view name) const {
    return nodes_.find(name)->second->as<Interface>();
  }

  /// What a dataset reads whose `in` names that node: a dataset, or the stream up to a transform.
  [[nodiscard]] Dataset& input(std::string_view name) const;

  /// The component of any kind.
  [[nodiscard]] Component& component(std::string_view name) const { return nodes_.find(name)->second->get(); }

  /// A component of `stop` or `observe` with its place in the graph.
  struct Observing {
    const core::Attached* attached;
    core::ComponentHandle handle;
  };
  [[nodiscard]] const std::vector<Observing>& stop() const noexcept { return stop_; }
  [[nodiscard]] const std::vector<Observing>& observe() const noexcept { return observe_; }

  /// Gives a node's component up, and those of the datasets that it reads: a thread does not come back from them, and
  /// they are never destroyed.
  void give_up(const core::Node& node) const;

  /// Gives the observers up without destroying them: one of them is still being entered and does not come back.
  void abandon_observers();

  /// What a model's network was built for.
  struct Built {
    Spec in;           ///< Its inputs by port.
    std::string path;  ///< Whose they were: "fit"
    std::string data;  ///< The stream of that path: "train"
  };

  /// Keeps or tells what the network of a model, which has a component of its own, was built for; nullptr before.
  void note_built(const std::string& model, Built built) { built_.insert_or_assign(model, std::move(built)); }
  [[nodiscard]] const Built* built(const std::string& model) const {
    const auto found = built_.find(model);
    return found == built_.end() ? nullptr : &found->second;
  }

  /// Runs `body`, which enters that method of the node's component, a literal; what it throws becomes a PlacedError that
  /// names node and component, with what it was doing in between: text such as "cannot build its network", or a function
  /// that gives it, which is called only when something was thrown.
  template <class Doing, class Body>
  decltype(auto) entering(std::string_view node, const char* method, Doing&& doing, Body&& body) const {
    const core::Entered entered(callee(node), method);
    try {
      return body();
    } catch (...) {
      if constexpr (std::is_invocable_v<Doing>) {
        rethrow_placed(node, doing());
      } else {
        rethrow_placed(node, doing);
      }
    }
  }

  /// Likewise for a component of `stop` or `observe`.
  template <class Body>
  decltype(auto) entering(const Observing& each, const char* method, Body&& body) const {
    const core::Entered entered(each.handle.callee(), method);
    try {
      return body();
    } catch (...) {
      rethrow_placed(*each.attached);
    }
  }

 private:
  [[noreturn]] void rethrow_placed(std::string_view node, std::string_view doing) const;
  [[noreturn]] void rethrow_placed(const core::Attached& attached) const;
  void derive(const core::Node& node);
  std::vector<Observing> attach(const std::vector<core::Attached>& attached);

  const core::Graph& graph_;
  const core::Resolved& resolved_;
  core::Loader loader_;
  std::map<std::string, core::ComponentHandle*, std::less<>> nodes_;
  std::map<std::string, const core::Callee*, std::less<>> callees_;
  std::vector<std::unique_ptr<core::ComponentHandle>> handles_;                 // in the order of creation
  std::map<std::string, std::unique_ptr<StreamDataset>, std::less<>> streams_;  // by transform that a dataset reads
  std::vector<Observing> stop_;
  std::vector<Observing> observe_;
  std::map<std::string, Built, std::less<>> built_;
};

/// The exception in flight as an Error: libtorch's own errors without their C++ backtrace, out of memory, foreign
/// types.
[[nodiscard]] Error current_error(ErrorCode otherwise);

}  // namespace tenon::engine
