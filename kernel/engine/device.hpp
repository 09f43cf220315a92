// The device of a run, and libtorch's settings that decide about equal bytes.
#pragma once

#include <c10/core/Device.h>

#include <core/graph/graph.hpp>
#include <core/json/json.hpp>
#include <core/resolve/resolve.hpp>
#include <engine/engine.hpp>

namespace tenon::engine {

/// libtorch keeps some settings for the whole process, which may be somebody else's: while one of these lives, those of a
/// pipeline may be in force, and with the last one the former ones come back. Waits while others are in force that differ
/// in determinism, float32 or autotune. [any thread]
class SettingsInForce {
 public:
  explicit SettingsInForce(const core::RunSettings& run);
  SettingsInForce(const SettingsInForce&) = delete;
  SettingsInForce& operator=(const SettingsInForce&) = delete;
  ~SettingsInForce();
};

/// Sets what libtorch keeps by thread, for a further trainer thread: its intra-op threads.
void prepare_thread(const core::Graph& graph);

/// Chooses `run.device` and applies `run.determinism`, `run.float32`, `run.threads`, `run.autotune`. \throws
/// PlacedError at the setting that this machine cannot give. [trainer]
[[nodiscard]] c10::Device prepare_device(const core::Graph& graph, const core::Resolved& resolved);

/// What is in force, read back from libtorch: for environment.json and the resume contract.
[[nodiscard]] core::Json device_facts(c10::Device device);

/// What libtorch and the machine offer.
[[nodiscard]] DeviceReport report_devices();

}  // namespace tenon::engine
