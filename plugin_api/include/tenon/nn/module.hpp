// The base of every network: a tree of named modules that hold parameters and buffers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <tenon/nn/param.hpp>
#include <tenon/step.hpp>
#include <tenon/tensors.hpp>

namespace tenon::nn {

/// A node of the tree. Children and slots are members of the author's class and register themselves by name with their
/// owner, so a module neither moves nor is copied. Entered only through its call operator, which carries the names for
/// profiles and for error reports. All calls [trainer].
class Module {
 public:
  /// A root.
  Module() = default;

  /// A child of `parent` under `name`, unique among its siblings.
  Module(Module* parent, std::string name);

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  /// Named tensors in, named tensors out.
  Tensors operator()(const Tensors& in, StepContext& context);

  /// Name below the parent; empty for a root.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// "block1.conv": names from below the root down to here.
  [[nodiscard]] std::string path() const;

  /// Hash of path(), the module's part of a random key.
  [[nodiscard]] uint64_t key() const;

  /// True when this pass trains and the module is not set to evaluate. Validation passes a context that does not train;
  /// it never touches the flag, so that a frozen batch norm stays frozen.
  [[nodiscard]] bool trains(const StepContext& context) const noexcept { return training_ && context.training(); }

  /// Sets the own flag of this module and of all below it.
  void train(bool on);

  [[nodiscard]] const std::vector<Module*>& children() const noexcept { return children_; }
  [[nodiscard]] const std::vector<Param*>& params() const noexcept { return params_; }
  [[nodiscard]] const std::vector<Buffer*>& buffers() const noexcept { return buffers_; }

  /// Visits every slot below here, depth first in order of registration, with its full name ("block1.conv.weight").
  void visit_params(const std::function<void(const std::string& name, Param&)>& visit);
  void visit_buffers(const std::function<void(const std::string& name, Buffer&)>& visit);

  /// The top of the tree.
  [[nodiscard]] const Module& root() const noexcept { return parent_ == nullptr ? *this : parent_->root(); }

  /// While it lives, `see` is called on its thread with whatever a module gave, innermost first. One at a time.
  class Watch {
   public:
    using See = std::function<void(const Module& module, const Tensors& out)>;
    explicit Watch(See see);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
  };

  /// Path of the innermost module whose forward threw last on this thread; empty when none did. For error reports.
  [[nodiscard]] static std::string last_failure();
  static void clear_failure();

 protected:
  /// \throws Error or c10::Error; the engine adds node and module.
  virtual Tensors forward(const Tensors& in, StepContext& context);

  /// Shows the Watch of this thread, if there is one, what this module gave.
  void show(const Tensors& out) const;
  void show(const at::Tensor& out) const;

  /// Runs `body` under this module's name for the profiler and for error reports.
  template <class Body>
  auto entered(Body&& body) {
    const Entry entry(*this);
    return body();
  }

 private:
  friend class Param;
  friend class Buffer;

  class Entry {
   public:
    explicit Entry(const Module& module);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    const Module& module_;
    int exceptions_;
  };

  Module* parent_ = nullptr;
  std::string name_;
  bool training_ = true;
  mutable uint64_t key_ = 0;
  std::vector<Module*> children_;
  std::vector<Param*> params_;
  std::vector<Buffer*> buffers_;
};

/// A module with one tensor in and one out: most layers.
class Layer : public Module {
 public:
  using Module::Module;

  at::Tensor operator()(const at::Tensor& in, StepContext& context) {
    at::Tensor out = entered([&] { return forward(in, context); });
    show(out);
    return out;
  }

 protected:
  virtual at::Tensor forward(const at::Tensor& in, StepContext& context) = 0;

 private:
  using Module::forward;
};

}  // namespace tenon::nn
