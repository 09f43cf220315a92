// Transforms over one field "x": a sound one, and what may be wrong with it.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <tenon/components/transform.hpp>
#include <tenon/random.hpp>
#include <tenon/registration.hpp>

namespace {

using tenon::Array;
using tenon::Dtype;
using tenon::Port;

/// Adds a number to each value.
class AddsToX : public tenon::Transform {
 public:
  static tenon::Ports ports() {
    return {{Port::any("x", {Dtype::kFloat32})}, {Port::pass_all(), Port::same("x", {Dtype::kFloat32})}};
  }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override {
    const tenon::FieldSpec& x = in.at(static_cast<std::size_t>(tenon::index_of(in, "x")));
    if (x.dtype == Dtype::kFloat32) return in;
    throw tenon::Error(tenon::ErrorCode::kConfig, "\"x\" must be float32, but is " + tenon::to_string(x));
  }

  void apply(tenon::Sample& sample, tenon::Rng& random, const tenon::When& /*when*/) const override {
    const Array x = sample.at("x");
    write(sample, x, addend(x, random));
  }

 protected:
  [[nodiscard]] virtual double addend(const Array& /*x*/, tenon::Rng& random) const { return random.uniform(); }

  virtual void write(tenon::Sample& sample, const Array& x, double number) const {
    const auto out = sample.allocate("x", Dtype::kFloat32, x.shape).as<float>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = x.as<float>()[i] + static_cast<float>(number);
  }
};

class Sound final : public AddsToX {
 public:
  explicit Sound(const tenon::NoParams& /*params*/) {}
};

struct UnusedParams {
  double low = 0;
  std::optional<double> high;

  TENON_PARAMS(UnusedParams, tenon::field(&UnusedParams::low, "low", "Compared, and never used").min(0).max(1),
               tenon::field(&UnusedParams::high, "high", "Never used").min(0).max(1))
};

/// Refuses what does not fit together, and then uses neither.
class RefusesOnly final : public AddsToX {
 public:
  explicit RefusesOnly(const UnusedParams& params) {
    if (params.high && params.low > *params.high) {
      throw tenon::Error(tenon::ErrorCode::kConfig, "\"low\" must not be above \"high\"", "/low");
    }
  }
};

/// Draws from the C library's generator, although the number does not matter.
class GlobalRandom final : public AddsToX {
 public:
  explicit GlobalRandom(const tenon::NoParams& /*params*/) {}

 protected:
  [[nodiscard]] double addend(const Array& /*x*/, tenon::Rng& random) const override {
    return random.uniform() + 0.0 * std::rand();  // NOLINT: the fault
  }
};

/// One generator for all calls.
class StaticRandom final : public AddsToX {
 public:
  explicit StaticRandom(const tenon::NoParams& /*params*/) {}

 protected:
  [[nodiscard]] double addend(const Array& /*x*/, tenon::Rng& /*random*/) const override {
    static std::atomic<uint64_t> calls{0};
    return tenon::Rng(1, calls++).uniform();
  }
};

/// Keeps a number of one call in a place that all threads share.
class SharedScratch final : public AddsToX {
 public:
  explicit SharedScratch(const tenon::NoParams& /*params*/) {}

 protected:
  [[nodiscard]] double addend(const Array& /*x*/, tenon::Rng& random) const override {
    scratch_ = random.uniform();
    for (int i = 0; i < 100; ++i) random.bits();
    return scratch_;
  }

 private:
  mutable std::atomic<double> scratch_{0};
};

/// Says float32 and writes float64.
class AgainstSpec final : public AddsToX {
 public:
  explicit AgainstSpec(const tenon::NoParams& /*params*/) {}

 protected:
  void write(tenon::Sample& sample, const Array& x, double number) const override {
    const auto out = sample.allocate("x", Dtype::kFloat64, x.shape).as<double>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(x.as<float>()[i]) + number;
  }
};

/// Adds to its input, too.
class WritesInput final : public AddsToX {
 public:
  explicit WritesInput(const tenon::NoParams& /*params*/) {}

 protected:
  void write(tenon::Sample& sample, const Array& x, double number) const override {
    for (float& value : x.as<float>()) value += static_cast<float>(number);
    std::memcpy(sample.allocate("x", Dtype::kFloat32, x.shape).data, x.data, x.bytes());
  }
};

/// Throws a number where a field is missing.
class ForeignException final : public AddsToX {
 public:
  explicit ForeignException(const tenon::NoParams& /*params*/) {}

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override {
    if (tenon::find(in, "x") == nullptr) throw 42;
    return AddsToX::spec(in);
  }
};

/// Does not end where there is nothing to do.
class Hangs final : public AddsToX {
 public:
  explicit Hangs(const tenon::NoParams& /*params*/) {}

 protected:
  [[nodiscard]] double addend(const Array& x, tenon::Rng& random) const override {
    std::atomic<int64_t> left{x.elements()};
    do {
      --left;
    } while (left != 0);
    return random.uniform();
  }
};

struct FuzzedParams {
  int64_t sum = 1;
  int64_t parts = 1;
  TENON_PARAMS(FuzzedParams, tenon::field(&FuzzedParams::sum, "sum", "What is added in all"),
               tenon::field(&FuzzedParams::parts, "parts", "In so many parts"))
};

/// Divides by a parameter whose schema allows 0.
class DividesByZero final : public AddsToX {
 public:
  explicit DividesByZero(const FuzzedParams& params) {
    if (params.parts == 0) std::abort();  // as a division of whole numbers by it would end
    const int64_t part = params.sum / params.parts;
    part_ = static_cast<double>(part);
  }

 protected:
  [[nodiscard]] double addend(const Array& /*x*/, tenon::Rng& random) const override {
    return random.uniform() + part_;
  }

 private:
  double part_ = 0;
};

}  // namespace

TENON_COMPONENT(RefusesOnly, UnusedParams, "refuses_only", "Looks at its parameters and does not use them")
TENON_COMPONENT(Sound, tenon::NoParams, "sound", "Keeps to the contract")
TENON_COMPONENT(GlobalRandom, tenon::NoParams, "global_random", "Draws from rand()")
TENON_COMPONENT(StaticRandom, tenon::NoParams, "static_random", "Draws from a generator of its own")
TENON_COMPONENT(SharedScratch, tenon::NoParams, "shared_scratch", "Keeps something between threads")
TENON_COMPONENT(AgainstSpec, tenon::NoParams, "against_spec", "Writes another type than it says")
TENON_COMPONENT(WritesInput, tenon::NoParams, "writes_input", "Changes its input in place")
TENON_COMPONENT(ForeignException, tenon::NoParams, "foreign_exception", "Throws a number")
TENON_COMPONENT(Hangs, tenon::NoParams, "hangs", "Does not end for an empty field")
TENON_COMPONENT(DividesByZero, FuzzedParams, "divides_by_zero",
                "Ends the process for a parameter that its schema allows")
