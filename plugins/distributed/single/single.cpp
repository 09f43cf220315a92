// distributed:single: one process alone, where every collective is the identity.
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/distributed.hpp>
#include <tenon/registration.hpp>

namespace tenon::distributed {

class Single final : public Distributed {
 public:
  explicit Single(const NoParams& /*params*/) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] Collectives& join() override { return alone_; }

 private:
  OneRank alone_;
};

TENON_COMPONENT(Single, NoParams, "single", "One process alone: rank 0 of 1")

}  // namespace tenon::distributed
