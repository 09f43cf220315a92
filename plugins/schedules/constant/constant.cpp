// schedule:constant: the configured value from the first step to the last.
#include <string>
#include <vector>

#include <tenon/components/schedule.hpp>
#include <tenon/registration.hpp>

namespace tenon::schedules {

class Constant final : public Schedule {
 public:
  explicit Constant(const NoParams& /*params*/) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] double factor(const Progress& /*progress*/) override { return 1; }
};

TENON_COMPONENT(Constant, NoParams, "constant", "The configured value, unchanged from the first step to the last")

}  // namespace tenon::schedules
