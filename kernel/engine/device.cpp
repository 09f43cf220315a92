// Choosing the device and fixing libtorch's settings.
#include <engine/device.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <fmt/format.h>

#include <core/plugin/runtime.hpp>

namespace tenon::engine {
namespace {

/// Where float32 may be computed with fewer bits.
constexpr std::array kFloat32Places{std::pair(at::Float32Backend::GENERIC, at::Float32Op::ALL),
                                    std::pair(at::Float32Backend::CUDA, at::Float32Op::MATMUL),
                                    std::pair(at::Float32Backend::CUDA, at::Float32Op::CONV),
                                    std::pair(at::Float32Backend::CUDA, at::Float32Op::RNN)};

/// Rank on this host, as torchrun and `tenon launch` set it.
c10::DeviceIndex local_rank() {
  const char* const text = std::getenv("LOCAL_RANK");  // NOLINT(concurrency-mt-unsafe): before any thread
  return text == nullptr ? c10::DeviceIndex{0} : static_cast<c10::DeviceIndex>(std::atoi(text));
}

std::string why_no_cuda() {
  if (!at::Context::hasCUDA()) {
    if (!core::has_nvidia_driver()) return "there is no NVIDIA driver on this machine";
    return "libtorch's CUDA half is not installed or not open";
  }
  return "the driver shows no usable device";
}

/// What prepare_device changes.
struct Settings {
  bool deterministic = false;
  bool warn_only = false;
  bool fill = false;
  bool deterministic_cudnn = false;
  bool benchmark_cudnn = false;
  int threads = 1;
  std::array<at::Float32Precision, kFloat32Places.size()> float32{};

  static Settings now() {
    const at::Context& context = at::globalContext();
    Settings settings{context.deterministicAlgorithms(),
                      context.deterministicAlgorithmsWarnOnly(),
                      context.deterministicFillUninitializedMemory(),
                      context.deterministicCuDNN(),
                      context.benchmarkCuDNN(),
                      at::get_num_threads()};
    for (std::size_t i = 0; i < kFloat32Places.size(); ++i) {
      settings.float32[i] = context.float32Precision(kFloat32Places[i].first, kFloat32Places[i].second);
    }
    return settings;
  }

  void restore() const {
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(deterministic, warn_only);
    context.setDeterministicFillUninitializedMemory(fill);
    context.setDeterministicCuDNN(deterministic_cudnn);
    context.setBenchmarkCuDNN(benchmark_cudnn);
    at::set_num_threads(threads);
    for (std::size_t i = 0; i < kFloat32Places.size(); ++i) {
      context.setFloat32Precision(kFloat32Places[i].first, kFloat32Places[i].second, float32[i]);
    }
  }
};

/// Whose settings are in force, and what was there before.
struct Turn {
  std::mutex mutex;
  std::condition_variable free;
  int holders = 0;
  std::string wanted;
  Settings before;
};

Turn& turn() {
  static Turn the_turn;  // libtorch's settings are the process's, too
  return the_turn;
}

bool cuda_usable() { return at::Context::hasCUDA() && at::detail::getCUDAHooks().getNumGPUs() > 0; }

}  // namespace

SettingsInForce::SettingsInForce(const core::RunSettings& run) {
  const std::string wanted = fmt::format("{} {} {}", run.determinism, run.float32, run.autotune);
  Turn& now = turn();
  std::unique_lock lock(now.mutex);
  now.free.wait(lock, [&] { return now.holders == 0 || now.wanted == wanted; });
  if (now.holders++ > 0) return;
  now.wanted = wanted;
  now.before = Settings::now();
}

SettingsInForce::~SettingsInForce() {
  Turn& now = turn();
  {
    const std::lock_guard lock(now.mutex);
    if (--now.holders > 0) return;
    now.before.restore();
  }
  now.free.notify_all();
}

void prepare_thread(const core::Graph& graph) {
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  at::set_num_threads(static_cast<int>(graph.run.threads.value_or(cores)));
  // A thread's number is overwritten at its first use of libtorch by what any thread, such as one of a loader, set last.
  // This is that use.
  static_cast<void>(at::get_num_threads());
}

c10::Device prepare_device(const core::Graph& graph, const core::Resolved& resolved) {
  const core::RunSettings& run = graph.run;
  if (run.device == "cuda" && !cuda_usable()) {
    const std::string message =
        fmt::format("run.device is \"cuda\", but {}; use \"auto\" or \"cpu\", or see `tenon doctor`", why_no_cuda());
    throw PlacedError(core::diagnose(resolved, "/run/device", Error(ErrorCode::kConfig, message)));
  }
  const bool cuda = run.device != "cpu" && cuda_usable();

  prepare_thread(graph);
  at::Context& context = at::globalContext();
  const bool strict = run.determinism == "strict";
  context.setDeterministicAlgorithms(strict, false);
  context.setDeterministicFillUninitializedMemory(false);  // every buffer is written before it is read
  context.setDeterministicCuDNN(strict);
  context.setBenchmarkCuDNN(run.autotune == "fixed" && !strict);
  const at::Float32Precision precision =
      run.float32 == "tf32" ? at::Float32Precision::TF32 : at::Float32Precision::IEEE;
  for (const auto& [backend, op] : kFloat32Places) context.setFloat32Precision(backend, op, precision);
  return cuda ? c10::Device(c10::kCUDA, local_rank()) : c10::Device(c10::kCPU);
}

core::Json device_facts(c10::Device device) {
  const at::Context& context = at::globalContext();
  core::Json facts;
  facts["device"] = device.str();
  facts["cpu_capability"] = at::get_cpu_capability();
  facts["threads"] = at::get_num_threads();
  facts["deterministic_algorithms"] = context.deterministicAlgorithms();
  facts["onednn"] = context.userEnabledMkldnn();
  const auto matmul = context.float32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL);
  facts["float32"] = matmul == at::Float32Precision::TF32 ? "tf32" : "ieee";
  return facts;
}

DeviceReport report_devices() {
  DeviceReport report;
  report.libtorch = TENON_LIBTORCH_VERSION;
  report.cpu_capability = at::get_cpu_capability();
  report.threads = at::get_num_threads();
  report.cuda_library = at::Context::hasCUDA();
  if (cuda_usable()) {
    const int64_t count = at::detail::getCUDAHooks().getNumGPUs();
    for (int64_t index = 0; index < count; ++index) report.cuda_devices.push_back(fmt::format("cuda:{}", index));
  } else {
    report.cuda_problem = why_no_cuda();
  }
  return report;
}

}  // namespace tenon::engine
