// Files go to Python's safetensors and back without a changed byte.
#include <core/storage/safetensors.hpp>

#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/storage/temporary_folder.hpp>

namespace tenon::core {
namespace {

/// A Python that has safetensors, or empty.
std::string python() {
  std::string program;
  if (const char* named = std::getenv("TENON_PYTHON")) {
    program = named;
  } else if (const char* home = std::getenv("HOME")) {
    program = std::string(home) + "/.cache/tenon/libtorch-2.11.0/bin/python";
  }
  const std::string command = fmt::format("'{}' -c 'import safetensors' >/dev/null 2>&1", program);
  return std::system(command.c_str()) == 0 ? program : "";
}

/// Reads the first file, compares types, shapes and numbers, writes the second. Needs neither torch nor numpy.
constexpr const char* kScript = R"(
import ctypes, struct, sys
import safetensors
tensors = dict(safetensors.deserialize(open(sys.argv[1], "rb").read()))
expected = {"f": ("F32", [2, 3], "<6f", (0.5, -1.0, 2.0, 3.0, 4.0, 8.0)), "i": ("I64", [1], "<q", (-(2**62),)),
            "b": ("BOOL", [3], "<3?", (True, False, True)), "h": ("BF16", [], "<H", (0x3FC0,)),
            "u": ("U8", [3], "<3B", (0, 255, 7))}
assert set(tensors) == set(expected), sorted(tensors)
for name, (dtype, shape, layout, numbers) in expected.items():
    tensor = tensors[name]
    assert tensor["dtype"] == dtype and list(tensor["shape"]) == shape, (name, tensor)
    assert struct.unpack(layout, bytes(tensor["data"])) == numbers, (name, tensor)
names = {"F32": "float32", "I64": "int64", "BOOL": "bool", "BF16": "bfloat16", "U8": "uint8"}
kept = []
def described(tensor):
    dtype, shape, data = names[tensor["dtype"]], list(tensor["shape"]), bytes(tensor["data"])
    if not hasattr(safetensors, "TensorSpec"):  # before 0.8
        return {"dtype": dtype, "shape": shape, "data": data}
    kept.append(ctypes.create_string_buffer(data, len(data)))
    return safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=ctypes.addressof(kept[-1]), data_len=len(data))
written = {name: described(tensor) for name, tensor in reversed(tensors.items())}
open(sys.argv[2], "wb").write(safetensors.serialize(written, {"format": "pt"}))
)";

TEST(SafetensorsPython, reads_ours_and_writes_the_same_bytes) {
  const std::string program = python();
  if (program.empty()) GTEST_SKIP() << "no Python with safetensors: set TENON_PYTHON";
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
  const std::string command =
      fmt::format("'{}' '{}' '{}' '{}' 2>&1", program, (folder / "script.py").string(),
                  (folder / "ours.safetensors").string(), (folder / "theirs.safetensors").string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(content_of(folder / "theirs.safetensors"), content_of(folder / "ours.safetensors"));
  const Safetensors theirs = Safetensors::read(folder / "theirs.safetensors");
  EXPECT_EQ(theirs.find("f")->array.as<float>()[5], 8.0F);
  EXPECT_EQ(theirs.find("i")->array.as<int64_t>()[0], i[0]);
}

}  // namespace
}  // namespace tenon::core
