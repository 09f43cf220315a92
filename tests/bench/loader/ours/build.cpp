// How this program, and so what it measures, was built.
#include <contender.hpp>

namespace tenon::bench {
namespace {

#ifdef __OPTIMIZE__
constexpr bool kOptimised = true;
#else
constexpr bool kOptimised = false;
#endif
#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

class Build final : public Contender {
 public:
  [[nodiscard]] Json about() const override {
    return {{"ready", true},
            {"type", TENON_BUILD_TYPE},
            {"flags", TENON_BUILD_FLAGS},
            {"optimised", kOptimised},
            {"compiler", kCompiler}};
  }

  Json act(const Json& /*command*/) override { return about(); }
};

}  // namespace

std::unique_ptr<Contender> make_build() { return std::make_unique<Build>(); }

}  // namespace tenon::bench
