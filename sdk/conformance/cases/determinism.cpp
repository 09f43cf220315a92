// Same seed, same numbers; and nobody else's randomness is touched.
#include <conformance/case.hpp>

#include <cstdlib>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

namespace tenon::conformance {
namespace {

constexpr const char* kOwnStream =
    "draw from the Rng or the step's generator alone: no rand(), no static or shared generator, no clock";

Seen use_once(const Subject& subject, const Trial& trial) {
  const std::unique_ptr<Use> use = use_of(subject, trial);
  use->prepare();
  Seen seen;
  use->go(0, 8, seen);
  return seen;
}

void same_seed(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    bench.doing("use twice with one seed");
    const Seen first = use_once(bench.subject(), trial);
    const std::string what = first.difference(use_once(bench.subject(), trial));
    if (what.empty()) continue;
    bench.fail("two components of one seed give different results: " + what, kOwnStream, trial.params);
    return;
  }
}

constexpr Case kSameSeed{"determinism.seed", "Two components of the same parameters and seed give the same bytes.", "",
                         &same_seed};
TENON_CASE(kSameSeed);

/// The next numbers of the process-wide generators.
struct Globals {
  int c_library = 0;
  double drand = 0;
  at::Tensor torch;
};

void seed_globals() {
  std::srand(12345);  // NOLINT: whether somebody draws from it is the question
  ::srand48(12345);
}

Globals next_of_globals() {
  return {std::rand(), ::drand48(), at::detail::getDefaultCPUGenerator().get_state()};
}  // NOLINT

void global_generators(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    seed_globals();
    const Globals before = next_of_globals();
    seed_globals();
    bench.doing("use while the process's generators are watched");
    (void)use_once(bench.subject(), trial);
    const Globals after = next_of_globals();
    const char* moved = nullptr;
    if (before.c_library != after.c_library) moved = "rand() or random()";
    if (before.drand != after.drand) moved = "drand48()";
    if (!at::equal(before.torch, after.torch)) moved = "libtorch's default generator";
    if (moved == nullptr) continue;
    bench.fail(fmt::format("it draws from {}, which all of the process share", moved), kOwnStream, trial.params);
    return;
  }
}

constexpr Case kGlobals{"determinism.stream", "The process's own generators are neither drawn from nor seeded.", "",
                        &global_generators};
TENON_CASE(kGlobals);

void declared(Bench& bench) {
  const Subject& subject = bench.subject();
  bool draws = false;
  for (Trial trial : bench.trials()) {
    const Seen first = use_once(subject, trial);
    trial.draws = 1;
    draws = draws || !(first == use_once(subject, trial));
  }
  if (draws && !subject.has("traits", "random")) {
    bench.fail("other random numbers change its results, but it does not have the trait \"random\"",
               "let traits() list \"random\"", bench.params());
  }
}

constexpr Case kDeclared{"determinism.declared",
                         "A component whose results depend on random numbers has the trait \"random\".",
                         "model|transform", &declared};
TENON_CASE(kDeclared);

}  // namespace
}  // namespace tenon::conformance
