// Ability of a dataset that has something to say of its data.
#pragma once

#include <string>
#include <vector>

namespace tenon {

/// Ability of a dataset: what people should know of the data, though nothing is wrong with it, such as rows that were
/// left out. The host shows it once at the start of a run and keeps it in the log.
class Remarks {
 public:
  static constexpr const char* kAbility = "tenon.remarks/1";

  /// One sentence each, without a full stop, naming file and number; empty when there is nothing to say. After open().
  /// [trainer]
  [[nodiscard]] virtual std::vector<std::string> remarks() const = 0;

 protected:
  ~Remarks() = default;
};

}  // namespace tenon
