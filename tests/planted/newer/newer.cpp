// A component of a revision of its interface that is newer than any.
#include <tenon/components/schedule.hpp>
#include <tenon/registration.hpp>

namespace {

class Newer final : public tenon::Schedule {
 public:
  static constexpr uint32_t kRevision = 1000;

  explicit Newer(const tenon::NoParams& /*params*/) {}
  [[nodiscard]] double factor(const tenon::Progress& /*progress*/) override { return 1; }
};

}  // namespace

TENON_COMPONENT(Newer, tenon::NoParams, "newer", "A schedule of an newer revision")
