// What each place of a pipeline and of a checkpoint's provenance means for going on: the table of the resume contract.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/json/json.hpp>
#include <core/resume/contract.hpp>

namespace tenon::core {

struct Verdict {
  Effect effect = Effect::kApplied;
  std::string accept;
  std::string consequence;
  std::string begins_anew;
};

/// One value that differs, taken apart. Not both sides are null.
struct Difference {
  std::vector<std::string> path;  ///< Keys from the root on.
  const Json* before = nullptr;
  const Json* after = nullptr;
};

/// Judges differences of two pipelines. All that it is given must outlive it.
class ContractRules {
 public:
  ContractRules(const Json& before, const Json& after, const Graph& graph);

  [[nodiscard]] Verdict of_pipeline(const Difference& difference) const;

  /// `path` begins below "provenance".
  [[nodiscard]] Verdict of_provenance(const Difference& difference) const;

 private:
  [[nodiscard]] Verdict run(const Difference& difference) const;
  [[nodiscard]] Verdict fit(const Difference& difference) const;
  [[nodiscard]] Verdict phases(const Difference& difference) const;
  [[nodiscard]] Verdict epochs(const Difference& difference) const;
  [[nodiscard]] Verdict node(const Difference& difference) const;
  [[nodiscard]] Verdict data_node(const Difference& difference, const std::string& kind) const;
  [[nodiscard]] Verdict optimizer(const Difference& difference) const;
  [[nodiscard]] Verdict stop(const Difference& difference) const;
  /// What validation finds changes: of no weight for training, unless a schedule reads it.
  [[nodiscard]] Verdict measured(std::string consequence) const;

  const Json& before_;
  const Json& after_;
  const Graph& graph_;
  std::set<std::string> fit_;       ///< Nodes that training reaches, before or now.
  std::set<std::string> validate_;  ///< Likewise validation.
};

}  // namespace tenon::core
