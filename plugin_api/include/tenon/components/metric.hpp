// Metrics: accumulate over batches, merge over ranks, compute once.
#pragma once

#include <cstdint>
#include <vector>

#include <tenon/component.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/ports.hpp>
#include <tenon/tensors.hpp>

namespace tenon {

/// The class lists its values and their directions in `static std::vector<MetricOutput> outputs()`. A value does not
/// depend on how samples were grouped into batches. Floating tensors come in the precision policy's storage type,
/// outside of autocast.
class Metric : public Component {
 public:
  static constexpr const char* kInterface = "tenon.metric";
  static constexpr uint32_t kRevision = 1;

  /// Forgets all samples. [trainer]
  virtual void reset() = 0;

  /// Adds a batch; reads no value from the device. [trainer]
  virtual void update(const Tensors& in) = 0;

  /// One value for each of outputs(), over all samples of all ranks since reset(). NaN when there was none. [trainer]
  [[nodiscard]] virtual std::vector<double> compute(Collectives& ranks) = 0;
};

}  // namespace tenon
