// What is set before libtorch is opened, which libtorch is taken, and why a library cannot be opened.
#include <core/plugin/runtime.hpp>

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/plugin/open_library.hpp>
#include <core/plugin/refusal.hpp>
#include <core/storage/temporary_folder.hpp>

namespace tenon::core {
namespace {

using Variables = std::map<std::string, std::string>;

/// The environment after the settings for a request were applied to `before`.
Variables after(const RuntimeRequest& request, Variables before = {}) {
  const auto now = [&before](const char* name) {
    const auto found = before.find(name);
    return found == before.end() ? std::nullopt : std::optional(found->second);
  };
  const std::vector<EnvironmentSetting> settings = environment_for(request, now);
  for (const EnvironmentSetting& setting : settings) {
    EXPECT_FALSE(setting.reason.empty());
    if (setting.value) {
      before[setting.name] = *setting.value;
    } else {
      EXPECT_EQ(before.erase(setting.name), 1U) << setting.name << " was taken away without being there";
    }
  }
  return before;
}

TEST(EnvironmentFor, threads_come_from_the_pipeline) {
  const Variables set = after({3, false, false, false}, {{"OMP_NUM_THREADS", "64"}});
  EXPECT_EQ(set, (Variables{{"OMP_NUM_THREADS", "3"}, {"MKL_NUM_THREADS", "3"}}));
  EXPECT_EQ(after({0, false, false, false}, {{"OMP_NUM_THREADS", "64"}}), (Variables{{"OMP_NUM_THREADS", "64"}}));
}

TEST(EnvironmentFor, strict_runs_have_a_fixed_cublas_workspace) {
  EXPECT_EQ(after({0, true, false, false}), (Variables{{"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}}));
  EXPECT_EQ(after({0, true, false, false}, {{"CUBLAS_WORKSPACE_CONFIG", ":16:8"}}),
            (Variables{{"CUBLAS_WORKSPACE_CONFIG", ":16:8"}}));
  EXPECT_EQ(after({0, true, false, false}, {{"CUBLAS_WORKSPACE_CONFIG", ":0:0"}}),
            (Variables{{"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}}));
}

TEST(EnvironmentFor, nothing_overrules_the_pipelines_float32) {
  const Variables foreign{{"NVIDIA_TF32_OVERRIDE", "1"}, {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1"}};
  EXPECT_EQ(after({0, false, true, false}, foreign), (Variables{{"NVIDIA_TF32_OVERRIDE", "0"}}));
  EXPECT_EQ(after({0, false, false, false}, foreign), (Variables{}));
}

TEST(EnvironmentFor, is_silent_where_all_is_set) {
  const RuntimeRequest request{2, true, true, false};
  const Variables set = after(request);
  EXPECT_TRUE(environment_for(request, [&set](const char* name) {
                const auto found = set.find(name);
                return found == set.end() ? std::nullopt : std::optional(found->second);
              }).empty());
}

std::string refusal_of(const std::filesystem::path& folder) {
  try {
    (void)inspect_libtorch(folder, "TENON_LIBTORCH");
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.code(), ErrorCode::kPlugin);
    return refusal.reason() + ": " + refusal.what();
  }
  return "taken";
}

TEST(InspectLibtorch, takes_root_or_lib_and_reads_the_version_of_every_distribution) {
  const std::map<std::string, std::string> notes{
      {"version.py", "__all__ = []\n__version__ = '2.11.0+cu130'\n"},
      {"build-version", "2.11.1+cpu\n"},
      {"include/torch/headeronly/version.h", "#define TORCH_VERSION \"2.11.0\"\n"}};
  for (const auto& [file, text] : notes) {
    const TemporaryFolder folder;
    put(folder / "torch/lib/libtorch_cpu.so", "");
    put(folder / "torch/lib/libc10.so", "");
    put(folder / "torch" / file, text);
    for (const char* named : {"torch", "torch/", "torch/lib", "torch/lib/"}) {
      const Libtorch libtorch = inspect_libtorch(folder / named, "TENON_LIBTORCH");
      EXPECT_EQ(libtorch.libraries, folder / "torch/lib");
      EXPECT_EQ(libtorch.version.substr(0, 5), "2.11.");
      EXPECT_FALSE(libtorch.cuda);
    }
    put(folder / "torch/lib/libtorch_cuda.so", "");
    EXPECT_TRUE(inspect_libtorch(folder / "torch", "TENON_LIBTORCH").cuda);
  }
}

TEST(InspectLibtorch, refuses_another_version_by_name) {
  const TemporaryFolder folder;
  put(folder / "lib/libtorch_cpu.so", "");
  put(folder / "lib/libc10.so", "");
  for (const char* version : {"2.10.0", "2.1.1", "2.110.0", "3.11.0"}) {
    put(folder / "version.py", fmt::format("__version__ = '{}+cpu'\n", version));
    const std::string refusal = refusal_of(folder.path());
    EXPECT_EQ(
        refusal.rfind(
            fmt::format("libtorch-version: TENON_LIBTORCH names {}, which is libtorch {}; this Tenon was built for "
                        "libtorch 2.11.",
                        folder.path().string(), version),
            0),
        0U)
        << refusal;
  }
  put(folder / "version.py", "");
  EXPECT_NE(refusal_of(folder.path()).find("does not say which version"), std::string::npos);
}

TEST(InspectLibtorch, says_where_it_looked) {
  const TemporaryFolder folder;
  const std::string refusal = refusal_of(folder.path());
  EXPECT_NE(refusal.find("no-libtorch: there is no libtorch in " + folder.path().string()), std::string::npos)
      << refusal;
  EXPECT_NE(refusal.find("PyPI: torch==2.11.0"), std::string::npos) << refusal;
  put(folder / "lib/libtorch_cpu.so", "");
  EXPECT_NE(refusal_of(folder.path()).find("not complete: libtorch_cpu.so is there, libc10.so is not"),
            std::string::npos);
}

TEST(OpenFailure, names_who_needs_what_and_where_it_comes_from) {
  const Refusal refusal =
      open_failure("/x/libtorch_cpu.so", "libcudart.so.13: cannot open shared object file: No such file or directory");
  EXPECT_EQ(refusal.reason(), "missing-library");
  const std::string text = refusal.what();
  EXPECT_NE(text.find("asks for libcudart.so.13"), std::string::npos) << text;
  EXPECT_NE(text.find("PyPI: nvidia-cuda-runtime"), std::string::npos) << text;
  EXPECT_EQ(source_of_library("libmine.so.1"), "");
  EXPECT_EQ(source_of_library("libcusparseLt.so.0"), "PyPI: nvidia-cusparselt-cu13");
  EXPECT_EQ(source_of_library("libcusparse.so.12"), "PyPI: nvidia-cusparse");
}

TEST(OpenFailure, names_missing_symbols_as_people_write_them) {
  const Refusal refusal = open_failure("/x/a.so", "/x/a.so: undefined symbol: _ZN5tenon7name_ofENS_5DtypeE");
  EXPECT_EQ(refusal.reason(), "missing-symbol");
  EXPECT_NE(std::string(refusal.what()).find("tenon::name_of(tenon::Dtype)"), std::string::npos) << refusal.what();
}

TEST(OpenLibrary, explains_files_that_cannot_be_opened) {
  const TemporaryFolder folder;
  const auto reason = [](const std::filesystem::path& path) {
    return message_of<Refusal>([&] { (void)open_library(path); });
  };
  EXPECT_EQ(reason(folder / "none.so"), (folder / "none.so").string() + " is not there");
  put(folder / "text.so", "no library");
  EXPECT_NE(reason(folder / "text.so").find("cannot be opened: "), std::string::npos);
  EXPECT_NE(open_library(TENON_BUILD_DIR "/lib/libtenon_api.so.1"), nullptr);
}

}  // namespace
}  // namespace tenon::core
