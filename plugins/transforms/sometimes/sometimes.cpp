// transform:sometimes: applies another transform to a random share of the samples.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/fitted.hpp>
#include <tenon/components/nesting.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

struct SometimesParams {
  Nested transform;
  double probability = 0.5;

  TENON_PARAMS(
      SometimesParams,
      tenon::field(&SometimesParams::transform, "transform",
                   "Transform that is applied; it must leave names, types and shapes of fields as they are")
          .component("transform")
          .required(),
      tenon::field(&SometimesParams::probability, "probability", "How often a sample is transformed").min(0).max(1))
};

class Sometimes final : public Transform, public Nesting {
 public:
  explicit Sometimes(const SometimesParams& params) : use_(params.transform.use), probability_(params.probability) {}

  static Ports ports() { return {{}, {Port::pass_all()}}; }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Nesting*>(this) : nullptr;
  }

  void adopt(std::string_view pointer, Component& inner) override {
    if (inner.ability(Fitted::kAbility) != nullptr) {
      throw Error(
          ErrorCode::kConfig,
          use_ + " learns from all training data, so it cannot be applied to a share: make it a node of its own",
          std::string(pointer));
    }
    if (inner.ability(Rescaled::kAbility) != nullptr) {
      throw Error(ErrorCode::kConfig,
                  use_ +
                      " brings fields to another scale, and of a share of the samples nobody could tell which were: "
                      "make it a node of its own",
                  std::string(pointer));
    }
    inner_ = &static_cast<Transform&>(inner);
  }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    const Spec out = blaming_inner("/transform", [&] { return inner_->spec(in); });
    const bool same = std::equal(in.begin(), in.end(), out.begin(), out.end(), [](const auto& a, const auto& b) {
      return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape;
    });
    if (same) return in;
    throw Error(ErrorCode::kConfig,
                use_ + " changes the fields to " + spelled(out) + ", but a sample that is left alone has " +
                    spelled(in) + ": apply it always, as a node of its own",
                "/transform");
  }

  /// One draw of its own, then those of the inner transform.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    if (random.chance(probability_)) inner_->apply(sample, random, when);
  }

  void state(StateIo& io) override { InnerState(io, "transform").visit(*inner_); }

 private:
  static std::string spelled(const Spec& spec) {
    std::string list;
    for (const FieldSpec& field : spec) list += (list.empty() ? "" : ", ") + field.name + " " + to_string(field);
    return list;
  }

  std::string use_;
  double probability_;
  Transform* inner_ = nullptr;  // the host's
};

TENON_COMPONENT(Sometimes, SometimesParams, "sometimes", "Applies another transform to a random share of the samples")

}  // namespace tenon::transforms
