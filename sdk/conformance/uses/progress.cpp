// Schedules, observers and precision policies: what they say over the course of a run.
#include <conformance/use.hpp>

#include <unistd.h>

#include <array>
#include <cstdio>

#include <fmt/format.h>

#include <tenon/components/precision.hpp>
#include <tenon/harness/progress.hpp>

namespace tenon::conformance {
namespace {

/// Epochs of five steps, with a metric that improves, then does not, then hardly does.
harness::Course course() {
  harness::Course course;
  course.steps = 360;
  course.metric = [](int64_t epoch) {
    constexpr std::array<double, 12> kFound{0.5, 0.6, 0.60008, 0.60008, 0.59, 0.7, 0.7005, 0.69, 0.69, 0.7, 0.2, 0.71};
    const int64_t rounds = epoch / static_cast<int64_t>(kFound.size());
    return kFound[static_cast<std::size_t>(epoch) % kFound.size()] + 0.1 * static_cast<double>(rounds);
  };
  return course;
}

/// Steps of the run that are one step here, so that state gets a chance to change.
constexpr int64_t kShare = 30;

class UseSchedule final : public UseOf<Schedule> {
 public:
  using UseOf::UseOf;
  void prepare() override { make(); }
  void go(int64_t from, int64_t to, Seen& seen) override {
    const harness::Course whole = course();
    for (int64_t applied = kShare * from; applied < std::min(whole.steps, kShare * to); ++applied) {
      const bool told = applied > 0 && applied % whole.steps_per_epoch == 0;
      seen.add(fmt::format("factor before step {}", applied), made_->factor(whole.at(applied, told)));
    }
  }
};

class UseObserver final : public UseOf<Observer> {
 public:
  using UseOf::UseOf;
  void prepare() override { make(); }
  void go(int64_t from, int64_t to, Seen& seen) override {
    const harness::Course whole = course();
    const std::vector<harness::StoredEvent> events = harness::events_of(whole);
    const auto share = static_cast<int64_t>(events.size()) / 12 + 1;
    const std::size_t begin = std::min(events.size(), static_cast<std::size_t>(from * share));
    const std::size_t end = std::min(events.size(), static_cast<std::size_t>(to * share));
    const off_t before = written();
    harness::feed(
        *made_,
        {events.begin() + static_cast<std::ptrdiff_t>(begin), events.begin() + static_cast<std::ptrdiff_t>(end)},
        whole);
    harness::Asked asked;
    harness::steer(*made_, whole, std::min(whole.steps, kShare * from), std::min(whole.steps, kShare * to), asked);
    for (const std::string& reason : asked.stops) seen.add("asked to stop", reason);
    seen.add("times it asked to save", static_cast<double>(asked.saves));
    seen.add("what it wrote", text_from(before));
  }

 private:
  // The case's own process has its two streams in one file.
  static off_t written() {
    std::fflush(nullptr);
    return lseek(STDOUT_FILENO, 0, SEEK_CUR);
  }
  static std::string text_from(off_t begin) {
    const off_t end = written();
    std::string text(begin < 0 || end < begin ? 0 : static_cast<std::size_t>(end - begin), '\0');
    if (!text.empty() && pread(STDOUT_FILENO, text.data(), text.size(), begin) < 0) text.clear();
    return text;
  }
};

class UsePrecision final : public UseOf<Precision> {
  // More than policies usually wait for. In every other step gradients overflow once, so that a policy is waiting when
  // its state is saved.
  static constexpr int64_t kUpdates = 2400;
  static constexpr int64_t kFiniteAtEnd = 38;

 public:
  using UseOf::UseOf;
  void prepare() override { make(); }
  void go(int64_t from, int64_t to, Seen& seen) override {
    for (int64_t i = from; i < to; ++i) {
      seen.add("storage", c10::toString(made_->storage()));
      seen.add("autocast", made_->autocast() ? c10::toString(*made_->autocast()) : "none");
      const std::string scale = fmt::format("scale during step {}", i);
      for (int64_t each = 0; each < kUpdates; ++each) {
        if (each < 50 || each % 10 == 0) seen.add(scale, made_->scale());
        made_->update(i % 2 == 1 || each != kUpdates - kFiniteAtEnd);
      }
    }
  }
};

constexpr Kind kSchedule{"schedule", Schedule::kRevision, &make_use<UseSchedule>};
TENON_KIND(kSchedule);
constexpr Kind kObserver{"observer", Observer::kRevision, &make_use<UseObserver>};
TENON_KIND(kObserver);
constexpr Kind kPrecision{"precision", Precision::kRevision, &make_use<UsePrecision>};
TENON_KIND(kPrecision);

}  // namespace
}  // namespace tenon::conformance
