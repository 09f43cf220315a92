// Reads every sample of a stream once, on many threads, and gathers what is to be known of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <engine/data/check/field_survey.hpp>
#include <engine/data/stream.hpp>

namespace tenon::engine {

/// A place in the stream where fields are looked at.
struct SurveyPoint {
  std::size_t transforms = 0;     ///< That lie before it.
  std::vector<FieldPlan> fields;  ///< One for each field there, in their order.
};

/// What is read, and where it is looked at.
struct SurveyRequest {
  DatasetNode dataset;                    ///< Open.
  std::vector<TransformNode> transforms;  ///< Of one outcome: none that is random.
  uint64_t seed = 0;
  std::vector<SurveyPoint> points;  ///< The first lies behind the dataset; `transforms` grow from point to point.
  std::vector<std::size_t> hashed;  ///< Fields of the dataset that make a sample's hash.
  int64_t most = 0;                 ///< Samples at most, from all over it; 0: all.
  int threads = 1;                  ///< The result does not depend on how many.
  std::function<void()> on_thread_start = {};  ///< As LoaderOptions::on_thread_start.
  /// Told now and then how many samples are done, on the calling thread; may be empty.
  std::function<void(int64_t done, int64_t total)> progress = {};
  std::chrono::nanoseconds sample_timeout{0};  ///< The longest that a sample may take; 0: no limit.

  /// Called when threads were given up that do not come back from a sample within half a second of the end: what the
  /// dataset and the transforms need must then never be destroyed. Empty: the end waits for them.
  std::function<void()> give_up = {};
};

/// A sample that could not be made.
struct FailedSample {
  int64_t index = 0;    ///< In the dataset.
  std::string node;     ///< The node at fault.
  std::string message;  ///< With the names of node, component and dataset.
};

/// What was found.
struct Survey {
  int64_t size = 0;              ///< Samples of the dataset.
  std::vector<int64_t> samples;  ///< Those that were read: their indices.
  std::vector<FailedSample> failed;
  std::vector<std::vector<FieldSurvey>> points;  ///< For each point its fields.
  /// For each sample that was read the hash of its fields, by content, or 0 where the dataset could not read it: the
  /// first 64 bits of SHA-256, whose chance of a false pair among 10 million samples is 3 in a million.
  std::vector<uint64_t> hashes;
};

/// \throws Error: kData where the dataset's size cannot be told, whatever a transform's spec does; DataError of a
/// sample that takes too long; of the first one that fails for want of memory (kMemory) or file handles (kStorage), or
/// because a component breaks the contract of an ability (kPlugin), which is not the sample's fault; kMemory where there
/// are more samples than can be compared. [trainer]
[[nodiscard]] Survey survey(const SurveyRequest& request);

}  // namespace tenon::engine
