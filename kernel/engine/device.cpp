// Choosing the device and fixing libtorch's settings.
#include <engine/device.hpp>

#include <cstdlib>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <fmt/format.h>

#include <core/plugin/runtime.hpp>

namespace tenon::engine {
namespace {

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

bool cuda_usable() { return at::Context::hasCUDA() && at::detail::getCUDAHooks().getNumGPUs() > 0; }

}  // namespace

void prepare_thread(const core::Graph& graph) {
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  at::set_num_threads(static_cast<int>(graph.run.threads.value_or(cores)));
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
  context.setFloat32Precision(at::Float32Backend::GENERIC, at::Float32Op::ALL, precision);
  for (const at::Float32Op op : {at::Float32Op::MATMUL, at::Float32Op::CONV, at::Float32Op::RNN}) {
    context.setFloat32Precision(at::Float32Backend::CUDA, op, precision);
  }
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
