// From --resume and --accept to the place where a run goes on.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/resolve/resolve.hpp>
#include <core/resume/contract.hpp>
#include <core/resume/resume_point.hpp>
#include <host/arguments.hpp>
#include <host/console.hpp>

namespace tenon::host {

inline constexpr Option kResumeOption{"resume", "auto|never|must|PATH",
                                      "never (default): a new run. auto: go on with the newest run of\n"
                                      "this name where it was interrupted, else a new run. must:\n"
                                      "likewise, or exit 9. PATH: a run directory, or a checkpoint;\n"
                                      "where its run has gone further, a new one branches off there"};
inline constexpr Option kAcceptOption{"accept", "WORD",
                                      "go on although this has changed since the checkpoint, such as\n"
                                      "lr, batch, optimizer; a refusal names the word",
                                      true};

/// What a run needs to know to go on.
struct Resuming {
  std::shared_ptr<core::ResumePoint> point;  ///< Nothing for a new run.
  std::set<std::string> accepted;
  std::set<std::string> begin_anew;
};

/// Finds the place, tells where that is, what has changed since and which damaged checkpoints were passed over.
/// \throws Error: kConfig for a change that is not accepted, kCheckpoint where there is nothing to go on from,
/// kStorage for a run that a live process holds.
[[nodiscard]] Resuming find_resuming(const Arguments& arguments, const core::Graph& graph,
                                     const core::Resolved& resolved, Console& console);

}  // namespace tenon::host
