// The pipeline of a checkpoint.
#include <host/run_place.hpp>

namespace tenon::host {

Pipeline read_run_pipeline(const RunPlace& place, const Arguments& arguments, const core::Catalogue& catalogue,
                           const std::vector<std::string>& sets) {
  std::vector<std::string> all = core::sets_without_first_values(place);
  all.insert(all.end(), sets.begin(), sets.end());
  // Other data, say, may leave nodes of the run without use.
  return read_pipeline(place.config(), arguments, catalogue, all, {.all_used = false});
}

}  // namespace tenon::host
