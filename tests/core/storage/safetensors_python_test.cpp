// Files go to Python's safetensors and back without a changed byte.
#include <core/storage/safetensors.hpp>

#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/storage/temporary_folder.hpp>

namespace tenon::core {
namespace {

/// Python with torch and safetensors, or empty.
std::string python() {
  std::string program;
  if (const char* named = std::getenv("TENON_PYTHON")) {
    program = named;
  } else if (const char* home = std::getenv("HOME")) {
    program = std::string(home) + "/.cache/tenon/libtorch-2.11.0/bin/python";
  }
  const std::string command = fmt::format("'{}' -c 'import torch, safetensors.torch' >/dev/null 2>&1", program);
  return std::system(command.c_str()) == 0 ? program : "";
}

constexpr const char* kScript = R"(
import sys, torch
from safetensors.torch import load_file, save_file
tensors = load_file(sys.argv[1])
types = {"f": torch.float32, "i": torch.int64, "b": torch.bool, "h": torch.bfloat16, "u": torch.uint8}
assert set(tensors) == set(types), sorted(tensors)
for name, dtype in types.items():
    assert tensors[name].dtype == dtype, (name, tensors[name].dtype)
assert tensors["f"].tolist() == [[0.5, -1.0, 2.0], [3.0, 4.0, 8.0]], tensors["f"]
assert tensors["i"].tolist() == [-(2**62)] and tensors["b"].tolist() == [True, False, True]
assert tensors["h"].item() == 1.5 and tensors["h"].shape == () and tensors["u"].tolist() == [0, 255, 7]
save_file(tensors, sys.argv[2], metadata={"format": "pt"})
)";

TEST(SafetensorsPython, reads_ours_and_writes_the_same_bytes) {
  const std::string program = python();
  if (program.empty()) GTEST_SKIP() << "no Python with torch and safetensors: set TENON_PYTHON";
  std::array<float, 6> f{0.5F, -1.0F, 2.0F, 3.0F, 4.0F, 8.0F};
  std::array<int64_t, 1> i{-(int64_t{1} << 62)};
  std::array<bool, 3> b{true, false, true};
  std::array<uint16_t, 1> h{0x3FC0};  // 1.5 as bfloat16
  std::array<uint8_t, 3> u{0, 255, 7};
  const Shape two_by_three{2, 3};
  const Shape one{1};
  const Shape three{3};
  const std::vector<NamedArray> tensors{{"f", {f.data(), Dtype::kFloat32, two_by_three}},
                                        {"i", {i.data(), Dtype::kInt64, one}},
                                        {"b", {b.data(), Dtype::kBool, three}},
                                        {"h", {h.data(), Dtype::kBfloat16, {}}},
                                        {"u", {u.data(), Dtype::kUint8, three}}};
  const TemporaryFolder folder;
  write_safetensors(folder / "ours.safetensors", tensors, {{"format", "pt"}});
  put(folder / "script.py", kScript);
  const std::string command = fmt::format("'{}' '{}' '{}' '{}' 2>&1", program, (folder / "script.py").string(),
                                          (folder / "ours.safetensors").string(), (folder / "theirs.safetensors").string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(content_of(folder / "theirs.safetensors"), content_of(folder / "ours.safetensors"));
  const Safetensors theirs = Safetensors::read(folder / "theirs.safetensors");
  EXPECT_EQ(theirs.find("f")->array.as<float>()[5], 8.0F);
  EXPECT_EQ(theirs.find("i")->array.as<int64_t>()[0], i[0]);
}

}  // namespace
}  // namespace tenon::core
