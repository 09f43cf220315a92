// Transforms that have others as parameters, and inner ones that fail or keep something.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/nesting.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace {

struct WrappedParams {
  tenon::Nested inner;
  TENON_PARAMS(WrappedParams,
               tenon::field(&WrappedParams::inner, "inner", "What is done").component("transform").required())
};

class Wrapped : public tenon::Transform, public tenon::Nesting {
 public:
  explicit Wrapped(const WrappedParams& /*params*/) {}

  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }
  static std::vector<std::string> abilities() { return {kAbility}; }
  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<tenon::Nesting*>(this) : nullptr;
  }

  void adopt(std::string_view pointer, tenon::Component& inner) override {
    if (pointer != "/inner") throw std::logic_error("was given a component at " + std::string(pointer));
    inner_ = &static_cast<tenon::Transform&>(inner);
  }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override { return inner_->spec(in); }
  void apply(tenon::Sample& sample, tenon::Rng& random, const tenon::When& when) const override {
    inner_->apply(sample, random, when);
  }
  void state(tenon::StateIo& io) override {
    int64_t of_its_own = 1;
    io.io("memory", of_its_own);
    tenon::InnerState(io, "inner").visit(*inner_);
  }

 private:
  tenon::Transform* inner_ = nullptr;
};

/// Says that it takes a component, and does not.
class Forgetful final : public Wrapped {
 public:
  using Wrapped::Wrapped;
  void* ability(const char* /*id*/) noexcept override { return nullptr; }
};

struct RemembersParams {
  int64_t memory = 0;
  TENON_PARAMS(RemembersParams, tenon::field(&RemembersParams::memory, "memory", "What it keeps").max(99))
};

/// Changes nothing and counts how often it was restored.
class Remembers final : public tenon::Transform {
 public:
  explicit Remembers(const RemembersParams& params) : memory_(params.memory) {
    if (memory_ < 0) throw tenon::Error(tenon::ErrorCode::kConfig, "cannot remember a negative number", "/memory");
    if (memory_ == 13) throw std::runtime_error("does not like that number");
  }

  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply(tenon::Sample& /*sample*/, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {}
  void state(tenon::StateIo& io) override {
    io.io("memory", memory_);
    if (!io.saving()) memory_ += 100;
  }

 private:
  int64_t memory_;
};

}  // namespace

TENON_COMPONENT(Wrapped, WrappedParams, "wrapped", "Does what another transform does")
TENON_COMPONENT(Forgetful, WrappedParams, "forgetful", "Names a transform that it never takes over")
TENON_COMPONENT(Remembers, RemembersParams, "remembers", "Keeps a number over restarts")
