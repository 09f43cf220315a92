// Observers that fail, and one that only one rank listens to.
#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/observer.hpp>
#include <tenon/registration.hpp>

namespace {

class ThrowingObserver final : public tenon::Observer {
 public:
  explicit ThrowingObserver(const tenon::NoParams& /*params*/) {}

  void on(const tenon::Event& /*event*/) override { throw std::runtime_error("the tracker is out of reach"); }
};

struct StopsOneRankParams {
  int64_t step = 1;
  TENON_PARAMS(StopsOneRankParams, tenon::field(&StopsOneRankParams::step, "step", "When it asks").min(1))
};

/// Ranks of one process make one each, in their order: the second one asks.
class StopsOneRank final : public tenon::Observer, public tenon::Controller {
 public:
  explicit StopsOneRank(const StopsOneRankParams& params) : params_(params), made_(++count) {}
  ~StopsOneRank() override { --count; }

  static std::vector<std::string> abilities() { return {kAbility}; }
  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<tenon::Controller*>(this) : nullptr;
  }

  void on(const tenon::Event& /*event*/) override {}
  void at_step(const tenon::Progress& progress, tenon::Requests& requests) override {
    if (progress.applied == params_.step && made_ == 2) requests.stop("one rank of three has had enough");
  }

 private:
  static inline std::atomic<int> count{0};

  StopsOneRankParams params_;
  int made_;
};

}  // namespace

TENON_COMPONENT(ThrowingObserver, tenon::NoParams, "throwing", "Throws at every event")
TENON_COMPONENT(StopsOneRank, StopsOneRankParams, "stops_one_rank", "One of several asks to stop")
