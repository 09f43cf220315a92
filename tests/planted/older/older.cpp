// A component of a revision of its interface that is older than any.
#include <tenon/components/schedule.hpp>
#include <tenon/registration.hpp>

namespace {

class Older final : public tenon::Schedule {
 public:
  static constexpr uint32_t kRevision = 0;

  explicit Older(const tenon::NoParams& /*params*/) {}
  [[nodiscard]] double factor(const tenon::Progress& /*progress*/) override { return 1; }
};

}  // namespace

TENON_COMPONENT(Older, tenon::NoParams, "older", "A schedule of an older revision")
