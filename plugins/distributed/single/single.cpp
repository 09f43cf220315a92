// distributed:single: one process alone, where every collective is the identity.
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/distributed.hpp>
#include <tenon/registration.hpp>

namespace tenon::distributed {

class Single final : public Distributed, private Collectives {
 public:
  explicit Single(const NoParams& /*params*/) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] Collectives& join() override { return *this; }

 private:
  [[nodiscard]] int64_t rank() const noexcept override { return 0; }
  [[nodiscard]] int64_t world() const noexcept override { return 1; }
  void all_reduce(at::Tensor& /*tensor*/, Op /*op*/) override {}
  [[nodiscard]] std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor}; }
  void broadcast(at::Tensor& /*tensor*/, int64_t /*root*/) override {}
  void barrier() override {}
};

TENON_COMPONENT(Single, NoParams, "single", "One process alone: rank 0 of 1")

}  // namespace tenon::distributed
