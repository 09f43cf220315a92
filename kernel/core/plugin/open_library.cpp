// dlopen, and its messages made clear.
#include <core/plugin/open_library.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include <core/plugin/mangled_names.hpp>
#include <core/plugin/symbols.hpp>

namespace tenon::core {
namespace {

constexpr std::string_view kMissing = ": cannot open shared object file: No such file or directory";
constexpr std::string_view kUndefined = ": undefined symbol: ";

struct Source {
  std::string_view prefix;
  std::string_view advice;
};

constexpr std::array kSources{Source{"libcudart.so", "PyPI: nvidia-cuda-runtime, of libtorch's CUDA version"},
                              Source{"libcupti.so", "PyPI: nvidia-cuda-cupti, of libtorch's CUDA version"},
                              Source{"libcudnn", "PyPI: nvidia-cudnn-cu13"},
                              Source{"libcublas", "PyPI: nvidia-cublas"},
                              Source{"libcufft", "PyPI: nvidia-cufft"},
                              Source{"libcurand", "PyPI: nvidia-curand"},
                              Source{"libcusolver", "PyPI: nvidia-cusolver"},
                              Source{"libcusparseLt", "PyPI: nvidia-cusparselt-cu13"},
                              Source{"libcusparse", "PyPI: nvidia-cusparse"},
                              Source{"libcufile", "PyPI: nvidia-cufile"},
                              Source{"libnvJitLink", "PyPI: nvidia-nvjitlink"},
                              Source{"libnvrtc", "PyPI: nvidia-cuda-nvrtc"},
                              Source{"libnvshmem", "PyPI: nvidia-nvshmem-cu13"},
                              Source{"libnvToolsExt", "PyPI: nvidia-nvtx"},
                              Source{"libnccl", "PyPI: nvidia-nccl-cu13"},
                              Source{"libcuda.so", "NVIDIA's driver"},
                              Source{"libgomp.so", "Debian: libgomp1"},
                              Source{"libtorch", "libtorch, which TENON_LIBTORCH names"},
                              Source{"libc10", "libtorch, which TENON_LIBTORCH names"},
                              Source{"libtenon", "Tenon's own lib folder"},
                              Source{"libopencv", "Debian: libopencv-dev"}};

bool needs(const std::filesystem::path& library, std::string_view name) {
  try {
    const std::vector<std::string> needed = DynamicImage(library).needed();
    return std::ranges::find(needed, name) != needed.end();
  } catch (const Refusal&) {
    return false;
  }
}

Refusal missing_library(const std::filesystem::path& library, const std::string& name) {
  const std::string whose =
      needs(library, name) ? library.filename().string() : "a library that " + library.filename().string() + " needs";
  const std::string_view source = source_of_library(name);
  return {
      "missing-library",
      fmt::format(
          "{} cannot be opened: {} asks for {}, which is neither in the folders that the file names (RUNPATH), nor in "
          "LD_LIBRARY_PATH, nor among the system's libraries; install it{}, or add its folder to LD_LIBRARY_PATH",
          library.string(), whose, name, source.empty() ? "" : fmt::format(" ({})", source))};
}

}  // namespace

std::string_view source_of_library(std::string_view name) noexcept {
  const auto* const found =
      std::ranges::find_if(kSources, [name](const Source& source) { return name.starts_with(source.prefix); });
  return found == kSources.end() ? std::string_view() : found->advice;
}

Refusal open_failure(const std::filesystem::path& library, std::string_view loader_message) {
  if (const std::size_t end = loader_message.find(kMissing); end != std::string_view::npos) {
    const std::string name(loader_message.substr(0, end));
    if (name == library.string()) return {"missing-library", fmt::format("{} is not there", library.string())};
    return missing_library(library, name);
  }
  if (const std::size_t at = loader_message.find(kUndefined); at != std::string_view::npos) {
    const std::string_view rest = loader_message.substr(at + kUndefined.size());
    const std::string symbol(rest.substr(0, rest.find_first_of(" \t\n,")));
    return {"missing-symbol",
            fmt::format(
                "{} cannot be opened: no library that it needs has {}; it was built against another version of one of "
                "them, or is not linked to all that it uses: rebuild it",
                library.string(), demangled(symbol))};
  }
  return {"open", fmt::format("{} cannot be opened: {}", library.string(), loader_message)};
}

void* open_library(const std::filesystem::path& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* message = ::dlerror();
    throw open_failure(library, message == nullptr ? "no reason is given" : message);
  }
  return handle;
}

}  // namespace tenon::core
