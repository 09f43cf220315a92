// State: what a checkpoint keeps, and what becomes of a damaged one.
#include <conformance/case.hpp>

#include <exception>
#include <limits>

#include <fmt/format.h>

#include <tenon/components/observer.hpp>
#include <tenon/error.hpp>
#include <tenon/harness/memory_state.hpp>

namespace tenon::conformance {
namespace {

using harness::MemoryState;

std::unique_ptr<Use> prepared(const Subject& subject, const Trial& trial) {
  std::unique_ptr<Use> use = use_of(subject, trial);
  use->prepare();
  return use;
}

/// A component of this trial after three steps, and its state.
struct Used {
  std::unique_ptr<Use> use;
  MemoryState state;
};

Used after_use(Bench& bench, const Trial& trial) {
  Used used{prepared(bench.subject(), trial), {}};
  Seen seen;
  bench.doing("use for three steps");
  used.use->go(0, 3, seen);
  bench.doing("saving its state");
  used.state = harness::save(used.use->component());
  return used;
}

void restored(Bench& bench) {
  if (bench.subject().kind == "observer" && !bench.subject().has("abilities", Controller::kAbility)) {
    throw Skip{"an observer that steers nothing is not saved"};
  }
  for (const Trial& trial : bench.trials()) {
    Used first = after_use(bench, trial);
    const auto second = prepared(bench.subject(), trial);
    second->take_over(*first.use);
    bench.doing("restoring its state");
    harness::restore(second->component(), first.state);
    if (harness::save(second->component()).values() != first.state.values()) {
      bench.fail("what is saved right after restoring is not what was restored",
                 "let state(io) visit the members themselves, not copies of them", trial.params);
      return;
    }
    Seen went_on;
    Seen resumed;
    bench.doing("use after restoring");
    first.use->go(3, 6, went_on);
    second->go(3, 6, resumed);
    if (const std::string what = went_on.difference(resumed); !what.empty()) {
      bench.fail(fmt::format("after restoring it goes on differently: {}", what),
                 bench.subject().kind == "transform" || bench.subject().kind == "dataset"
                     ? "keep nothing between calls and draw from the given Rng; only what was learned before the "
                       "first step belongs into state(io)"
                     : "visit every member that changes while it is used in state(io)",
                 trial.params);
      return;
    }
  }
}

constexpr Case kRestored{
    "state.restored", "A new component with restored state goes on exactly as the one that was saved.", "", &restored};
TENON_CASE(kRestored);

void stable(Bench& bench) {
  const Used used = after_use(bench, bench.trial());
  if (harness::save(used.use->component()).values() == used.state.values()) return;
  bench.fail("saving twice gives different states", "state(io) may change nothing while io.saving()", bench.params());
}

constexpr Case kStable{"state.stable", "Saving changes nothing: a second time it gives the same.", "", &stable};
TENON_CASE(kStable);

void declared(Bench& bench) {
  bool has_state = false;
  for (const Json& params : variations(bench.subject(), bench.params(), {}, 10)) {
    Trial trial = bench.trial();
    trial.params = params;
    try {
      has_state = has_state || !after_use(bench, trial).state.values().empty();
    } catch (const std::exception&) {
      continue;  // other inputs would suit these
    }
  }
  const bool says_so = bench.subject().has("traits", "stateful");
  if (has_state == says_so || (has_state && bench.subject().schema().dump().find("x-component") != std::string::npos))
    return;
  bench.warn(has_state ? "it keeps state, but does not have the trait \"stateful\""
                       : "it has the trait \"stateful\", but keeps no state",
             "say in traits() what holds");
}

constexpr Case kDeclared{"state.declared", "The trait \"stateful\" says whether there is state.", "", &declared};
TENON_CASE(kDeclared);

/// Restores a state that cannot be right. An Error (kCheckpoint) is right; being taken is allowed.
void restore_wrong(Bench& bench, MemoryState state, const std::string& what, bool must_fail) {
  const auto use = prepared(bench.subject(), bench.trial());
  bench.doing("restoring " + what);
  try {
    harness::restore(use->component(), std::move(state));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCheckpoint) return;
    bench.fail(fmt::format("{} is refused with exit code {}, not 9: {}", what, exit_code(error.code()), error.what()),
               "throw tenon::Error(ErrorCode::kCheckpoint, …), or let io() throw it", bench.params());
    return;
  }
  if (must_fail) {
    bench.fail(what + " is taken without a word", "ask io() for every value, so that a missing one is found",
               bench.params());
    return;
  }
  Seen seen;
  bench.doing("use after restoring " + what);
  try {
    use->go(3, 4, seen);
  } catch (const std::exception&) {
    return;  // an error is as good an answer as a number
  }
}

void empty(Bench& bench) {
  if (after_use(bench, bench.trial()).state.values().empty()) throw Skip{"it keeps no state"};
  restore_wrong(bench, MemoryState(), "an empty state", true);
}

constexpr Case kEmpty{"state.empty", "An empty state is refused as a damaged checkpoint.", "", &empty};
TENON_CASE(kEmpty);

MemoryState::Value scrambled(const MemoryState::Value& value, Rng& random) {
  if (random.chance(0.3)) return std::string("\x00\xff damaged", 10);
  MemoryState::Value changed = value;
  if (auto* const number = std::get_if<int64_t>(&changed)) {
    *number = static_cast<int64_t>((static_cast<uint64_t>(random.bits()) << 32U) | random.bits());
  } else if (auto* const real = std::get_if<double>(&changed)) {
    *real = random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN() : -1e300;
  } else if (auto* const flag = std::get_if<bool>(&changed)) {
    *flag = !*flag;
  } else if (auto* const text = std::get_if<std::string>(&changed)) {
    for (char& c : *text) c = static_cast<char>(random.bits());
  } else {
    auto& saved = std::get<MemoryState::Saved>(changed);
    if (random.chance(0.4)) {
      saved = {Dtype::kUint8, {3}, {std::byte{1}, std::byte{2}, std::byte{255}}};
    } else {
      for (std::byte& each : saved.bytes) each = static_cast<std::byte>(random.bits());
    }
  }
  return changed;
}

void damaged(Bench& bench) {
  const MemoryState good = after_use(bench, bench.trial()).state;
  if (good.values().empty()) throw Skip{"it keeps no state"};
  Rng random(bench.subject().seed);
  for (int i = 0; i < 50; ++i) {
    MemoryState state = good;
    for (auto& [name, value] : state.values()) {
      if (random.chance(0.5)) value = scrambled(value, random);
    }
    restore_wrong(bench, std::move(state), fmt::format("a state of random bytes, number {}", i), false);
    if (!bench.findings().empty()) return;
  }
}

constexpr Case kDamaged{"state.damaged",
                        "A state of random bytes, types and shapes is refused as a damaged checkpoint or taken, and "
                        "never crashes.",
                        "", &damaged};
TENON_CASE(kDamaged);

}  // namespace
}  // namespace tenon::conformance
