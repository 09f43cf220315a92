// The module tree.
#include <tenon/nn/module.hpp>

#include <algorithm>
#include <exception>

#include <ATen/ATen.h>

#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::nn {
namespace {

/// Path of the innermost module that an exception left on this thread.
std::string& failure() {
  thread_local std::string path;
  return path;
}

/// What sees the outputs of modules on this thread.
Module::Watch::See& watcher() {
  thread_local Module::Watch::See see;
  return see;
}

template <class Slot>
void require_unique(const std::vector<Slot*>& siblings, const std::string& name, const std::string& where) {
  const auto same = [&](const Slot* sibling) { return sibling->name() == name; };
  if (std::any_of(siblings.begin(), siblings.end(), same)) {
    throw Error(ErrorCode::kPlugin, "the name \"" + name + "\" is taken twice in the module \"" + where + "\"");
  }
}

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

void visit_tree(Module& module, const std::string& prefix,
                const std::function<void(const std::string&, Module&)>& visit) {
  visit(prefix, module);
  for (Module* const child : module.children()) visit_tree(*child, joined(prefix, child->name()), visit);
}

}  // namespace

Module::Module(Module* parent, std::string name) : parent_(parent), name_(std::move(name)) {
  require_unique(parent->children_, name_, parent->path());
  parent->children_.push_back(this);
}

std::string Module::path() const {
  if (parent_ == nullptr) return name_;
  return joined(parent_->path(), name_);
}

uint64_t Module::key() const {
  if (key_ == 0) key_ = name_key(path());
  return key_;
}

void Module::train(bool on) {
  training_ = on;
  for (Module* const child : children_) child->train(on);
}

void Module::visit_params(const std::function<void(const std::string& name, Param&)>& visit) {
  visit_tree(*this, "", [&](const std::string& prefix, Module& module) {
    for (Param* const param : module.params_) visit(joined(prefix, param->name()), *param);
  });
}

void Module::visit_buffers(const std::function<void(const std::string& name, Buffer&)>& visit) {
  visit_tree(*this, "", [&](const std::string& prefix, Module& module) {
    for (Buffer* const buffer : module.buffers_) visit(joined(prefix, buffer->name()), *buffer);
  });
}

Tensors Module::operator()(const Tensors& in, StepContext& context) {
  Tensors out = entered([&] { return forward(in, context); });
  show(out);
  return out;
}

void Module::show(const Tensors& out) const {
  if (watcher()) watcher()(*this, out);
}

void Module::show(const at::Tensor& out) const {
  if (watcher()) watcher()(*this, Tensors{{"", out}});
}

Module::Watch::Watch(See see) { watcher() = std::move(see); }

Module::Watch::~Watch() { watcher() = nullptr; }

Tensors Module::forward(const Tensors& /*in*/, StepContext& /*context*/) {
  throw Error(ErrorCode::kPlugin, "the module \"" + path() + "\" takes no named tensors: it has no such forward");
}

std::string Module::last_failure() { return failure(); }

void Module::clear_failure() { failure().clear(); }

Module::Entry::Entry(const Module& module) : module_(module), exceptions_(std::uncaught_exceptions()) {}

Module::Entry::~Entry() {
  if (std::uncaught_exceptions() > exceptions_ && failure().empty()) failure() = module_.path();
}

Param::Param(Module* owner, std::string name, std::vector<int64_t> shape, Init init)
    : name_(std::move(name)), shape_(std::move(shape)), init_(std::move(init)) {
  require_unique(owner->params_, name_, owner->path());
  value_ = at::empty(shape_, at::TensorOptions(at::kFloat).device(at::kMeta));
  owner->params_.push_back(this);
}

void Param::set(at::Tensor value) {
  if (value.sizes() != at::IntArrayRef(shape_)) {
    throw Error(ErrorCode::kConfig, "the parameter \"" + name_ + "\" cannot take another shape");
  }
  value_ = std::move(value);
}

Buffer::Buffer(Module* owner, std::string name, std::vector<int64_t> shape, at::ScalarType dtype, double fill)
    : name_(std::move(name)), shape_(std::move(shape)), dtype_(dtype), fill_(fill) {
  require_unique(owner->buffers_, name_, owner->path());
  value_ = at::empty(shape_, at::TensorOptions(dtype_).device(at::kMeta));
  owner->buffers_.push_back(this);
}

void Buffer::set(at::Tensor value) {
  if (value.sizes() != at::IntArrayRef(shape_)) {
    throw Error(ErrorCode::kConfig, "the buffer \"" + name_ + "\" cannot take another shape");
  }
  const bool floating = at::isFloatingType(dtype_) && at::isFloatingType(value.scalar_type());
  if (value.scalar_type() != dtype_ && !floating) {
    throw Error(ErrorCode::kConfig, "the buffer \"" + name_ + "\" cannot take another type");
  }
  value_ = std::move(value);
}

}  // namespace tenon::nn
