// Components that are part of the kernel: the loader.
#pragma once

#include <cstdint>
#include <optional>

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
  int64_t batch = 1;               ///< Samples of a micro-batch, over all ranks.
  bool shuffle = false;            ///< Another order each epoch, a pure function of seed and epoch.
  std::optional<int64_t> workers;  ///< Threads; 0 loads on the trainer thread; empty for "auto".
  int64_t prefetch = 2;            ///< Batches that are kept ready.
  LastBatch last = LastBatch::kKeep;

  TENON_PARAMS(LoaderParams,
               tenon::field(&LoaderParams::batch, "batch", "Samples of a micro-batch, over all ranks")
                   .required()
                   .min(1)
                   .max(1 << 30),
               tenon::field(&LoaderParams::shuffle, "shuffle", "Another order each epoch, the same for the same seed"),
               tenon::field(&LoaderParams::workers, "workers",
                            "Loader threads; 0 loads on the trainer thread; auto takes all cores but one")
                   .min(0)
                   .max(256),
               tenon::field(&LoaderParams::prefetch, "prefetch", "Batches that are kept ready").min(1).max(64),
               tenon::field(&LoaderParams::last, "last", "An epoch's last, smaller batch: keep it or drop it"))
};

/// Loader threads for these parameters on a machine of `cores` cores: at least 1 for "auto".
[[nodiscard]] int64_t loader_workers(const LoaderParams& params, unsigned cores) noexcept;

/// The kernel as a plugin of the catalogue; its path is empty.
[[nodiscard]] PluginInfo kernel_plugin();

}  // namespace tenon::core
