// A small network that exporters are tried on.
#pragma once

#include <memory>

#include <tenon/components/model.hpp>

namespace tenon::conformance {

/// "x" float32[N, 6] → "y" float32[N, 4] and "class" int64[N].
class OwnModel final : public Model {
 public:
  OwnModel();
  void build(const Spec& in) override;
  [[nodiscard]] nn::Module& root() override;
  ~OwnModel() override;

  /// Inputs of a batch that no exporter is asked to verify.
  [[nodiscard]] static Tensors example(uint64_t seed);

 private:
  class Network;
  std::unique_ptr<Network> network_;
};

}  // namespace tenon::conformance
