// Components that are part of the kernel: the loader.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/plugin/loader_params.hpp>
#include <core/plugin/manifest.hpp>
#include <tenon/params.hpp>

namespace tenon::core {

/// Id of the plugin under which the kernel's own components are listed.
inline constexpr const char* kKernelPlugin = "org.tenon.kernel";

/// What becomes of an epoch's last batch when it is smaller than the others.
enum class LastBatch { kKeep, kDrop };
TENON_ENUM(LastBatch, "keep", "drop")

/// Parameters of `loader:threads`.
struct LoaderParams {
  int64_t batch = 1;     ///< Samples of a micro-batch, over all ranks.
  bool shuffle = false;  ///< Another order each epoch, a pure function of seed and epoch.
  std::optional<SamplerParams> sampler;
  std::optional<BucketParams> buckets;
  LastBatch last = LastBatch::kKeep;
  std::vector<PadParams> pad;
  std::vector<std::string> lists;             ///< Fields whose samples are joined, beside their lengths.
  std::optional<BadSampleParams> bad_sample;  ///< Empty: a sample that cannot be made ends the run.
  std::optional<int64_t> workers;             ///< Threads; 0 loads on the trainer thread; empty for "auto".
  int64_t prefetch = 2;                       ///< Batches that are kept ready.
  Bytes memory{int64_t{1} << 30};             ///< Bound of the batches that are kept ready.
  Time sample_timeout{600};                   ///< The longest that one sample may take on a loader thread.

  TENON_PARAMS(
      LoaderParams,
      tenon::field(&LoaderParams::batch, "batch", "Samples of a micro-batch, over all ranks")
          .required()
          .min(1)
          .max(1 << 30),
      tenon::field(&LoaderParams::shuffle, "shuffle", "Another order each epoch, the same for the same seed"),
      tenon::field(&LoaderParams::sampler, "sampler", "Which samples make an epoch; none: each of the dataset once")
          .word("none"),
      tenon::field(&LoaderParams::buckets, "buckets",
                   "Batches of samples of similar length; none: in the order of the epoch")
          .word("none"),
      tenon::field(&LoaderParams::last, "last", "An epoch's last, smaller batch: keep it or drop it"),
      tenon::field(&LoaderParams::pad, "pad", "Fields of differing sizes that are filled up to one size"),
      tenon::field(&LoaderParams::lists, "lists",
                   "Fields whose samples are joined along their first axis, beside a field of their lengths"),
      tenon::field(&LoaderParams::bad_sample, "bad_sample",
                   "What becomes of a sample that cannot be made; fail: the run ends")
          .word("fail"),
      tenon::field(&LoaderParams::workers, "workers",
                   "Loader threads; 0 loads on the trainer thread; auto: as many as measurements show to help, "
                   "none for data in memory that is made faster than it could be handed over")
          .min(0)
          .max(256),
      tenon::field(&LoaderParams::prefetch, "prefetch", "Batches that are kept ready").min(1).max(64),
      tenon::field(
          &LoaderParams::memory, "memory",
          "Memory of the batches that are kept ready, at most; where two do not fit, one is made at a time; 0 B: none "
          "is made ahead"),
      tenon::field(
          &LoaderParams::sample_timeout, "sample_timeout",
          "A sample that takes a loader thread longer ends the run with an error that names it; 0 s: no limit; "
          "with 0 workers nothing can interrupt it"))
};

/// Those of them that say which samples an epoch has, and in which order. Prediction goes without: it takes each sample of
/// the dataset once, in its order.
inline constexpr std::array<const char*, 4> kOrderParams{"shuffle", "sampler", "buckets", "last"};

/// The kernel as a plugin of the catalogue; its path is empty.
[[nodiscard]] PluginInfo kernel_plugin();

}  // namespace tenon::core
