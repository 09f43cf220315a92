// A component in use, the same for every kind: prepared as the host prepares it, then asked step by step, with
// everything that shows recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <conformance/inputs.hpp>
#include <conformance/seen.hpp>
#include <conformance/subject.hpp>

namespace tenon::conformance {

/// What it is used with.
struct Trial {
  Json params;
  Inputs inputs;
  uint64_t seed = 1;
  uint64_t draws = 0;  ///< Another number draws other random numbers, for the same data.
};

class Use {
 public:
  Use() = default;
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  virtual ~Use() = default;

  /// Makes the component and all that it needs. \throws what the component throws.
  virtual void prepare() = 0;

  /// Steps [from, to). Steps depend on nothing but their number and the component's state.
  virtual void go(int64_t from, int64_t to, Seen& seen) = 0;

  /// Takes over what the host keeps outside of the component, such as the values of parameters, as from a checkpoint.
  virtual void take_over(Use& /*from*/) {}

  [[nodiscard]] virtual Component& component() = 0;
};

/// A way to use components of one kind. Constants of this type make themselves known by TENON_KIND.
struct Kind {
  std::string_view name;
  uint32_t revision = 1;
  std::unique_ptr<Use> (*use)(const Subject& subject, const Trial& trial);
};

/// The kind of that name, or nullptr.
[[nodiscard]] const Kind* find_kind(std::string_view name);

/// \throws Error (kPlugin) for a kind that there is no use of.
[[nodiscard]] std::unique_ptr<Use> use_of(const Subject& subject, const Trial& trial);

/// Base of the uses: owns the component as its interface.
template <class Interface>
class UseOf : public Use {
 public:
  UseOf(const Subject& subject, Trial trial) : subject_(subject), trial_(std::move(trial)) {}

  [[nodiscard]] Interface& component() override { return *made_; }

 protected:
  void make() { made_ = harness::Registry::as<Interface>(subject_.make(trial_.params)); }

  const Subject& subject_;
  Trial trial_;
  harness::Made<Interface> made_;
};

/// `Class` as a Kind's function.
template <class Class>
std::unique_ptr<Use> make_use(const Subject& subject, const Trial& trial) {
  return std::make_unique<Class>(subject, trial);
}

/// Parameters and inputs with which a component works, and those that came close.
struct Working {
  std::vector<Trial> trials;  ///< All with the same parameters.
  std::string why_not;        ///< The last error, where there is none.
};

/// Parameters that work, from `params` on: a parameter that an error names is tried with other values. At most `most`
/// trials.
[[nodiscard]] Working find_working(const Subject& subject, Json params, std::size_t most = 3);

/// Trials with exactly these parameters, over all candidates of inputs. \throws Error that blames a parameter where one
/// did and no inputs work.
[[nodiscard]] Working trials_of(const Subject& subject, const Json& params, std::size_t most = 3);

/// `params` and up to `most` sets around them that the component can be made with, drawn from the schema. Paths and
/// inner components stay as they are.
[[nodiscard]] std::vector<Json> variations(const Subject& subject, const Json& params,
                                           const std::vector<std::string>& words, std::size_t most);

}  // namespace tenon::conformance

#define TENON_KIND(kind)                                \
  [[gnu::section("tenon_conformance_kinds"), gnu::used, \
    gnu::retain]] const ::tenon::conformance::Kind* const tenon_registered_##kind = &(kind)
