// The safetensors format: canonical bytes, strict reading.
#include <core/storage/safetensors.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/storage/file.hpp>
#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

constexpr std::array kAllDtypes{Dtype::kBool,  Dtype::kUint8,   Dtype::kInt8,     Dtype::kInt16,   Dtype::kInt32,
                                Dtype::kInt64, Dtype::kFloat16, Dtype::kBfloat16, Dtype::kFloat32, Dtype::kFloat64};

class ToString final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string text;
};

std::string bytes_for(std::span<const NamedArray> tensors, const Metadata& metadata = {}) {
  ToString sink;
  write_safetensors(tensors, metadata, sink);
  return sink.text;
}

/// One tensor of each element type with odd sizes, so that places are easily wrong.
class Tensors {
 public:
  Tensors() {
    for (const Dtype dtype : kAllDtypes) {
      std::vector<std::byte>& bytes = memory_.emplace_back(15 * size_of(dtype));
      for (size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(dtype == Dtype::kBool ? i % 2 : i * 37 + static_cast<size_t>(dtype));
      }
    }
    for (size_t i = 0; i < kAllDtypes.size(); ++i) {
      list.push_back({fmt::format("layer.{}", name_of(kAllDtypes[i])), {memory_[i].data(), kAllDtypes[i], shape_}});
    }
    list.push_back({"scalar", {memory_.back().data(), Dtype::kFloat64, scalar_}});
    list.push_back({"nothing", {nullptr, Dtype::kFloat32, empty_}});
  }

  std::vector<NamedArray> list;

 private:
  std::vector<std::vector<std::byte>> memory_;
  Shape shape_{3, 1, 5};
  Shape scalar_;
  Shape empty_{4, 0};
};

/// A file with this header, and this many bytes of data.
std::string file_with(const std::string& header, size_t data) {
  std::string file(8, '\0');
  for (size_t i = 0; i < 8; ++i) {
    file[i] = static_cast<char>(uint64_t{header.size()} >> (8 * i) & 0xff);
  }
  return file + header + std::string(data, '\1');
}

std::string refusal(const std::string& file) {
  return message_of<Error>([&] { (void)Safetensors::parse(bytes_of(file), "FILE"); });
}

TEST(Safetensors, gives_back_every_element_type_shape_and_byte) {
  const Tensors tensors;
  const TemporaryFolder folder;
  write_safetensors(folder / "a.safetensors", tensors.list, {{"format", "pt"}});
  const Safetensors file = Safetensors::read(folder / "a.safetensors");
  ASSERT_EQ(file.tensors().size(), tensors.list.size());
  for (const NamedArray& expected : tensors.list) {
    const Safetensors::Tensor* found = file.find(expected.name);
    ASSERT_NE(found, nullptr) << expected.name;
    EXPECT_EQ(found->array.dtype, expected.array.dtype);
    EXPECT_TRUE(std::ranges::equal(found->array.shape, expected.array.shape));
    EXPECT_EQ(
        found->array.bytes() == 0 ? 0 : std::memcmp(found->array.data, expected.array.data, expected.array.bytes()), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found->array.data) % size_of(found->array.dtype), 0U) << expected.name;
  }
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "pt"}}));
  EXPECT_EQ(file.find("layer"), nullptr);
}

TEST(Safetensors, writes_the_same_bytes_whatever_the_order) {
  Tensors tensors;
  const Metadata metadata{{"b", "2"}, {"a", "1"}};
  const std::string first = bytes_for(tensors.list, metadata);
  std::ranges::reverse(tensors.list);
  EXPECT_EQ(bytes_for(tensors.list, metadata), first);
  EXPECT_EQ(safetensors_size(tensors.list, metadata), first.size());
  EXPECT_EQ(first.find("\"layer.int64\"") < first.find("\"layer.bool\""), true);
}

TEST(Safetensors, pads_its_header_so_that_data_is_aligned) {
  std::array<float, 2> data{1.5F, -2.0F};
  const Shape shape{2};
  const std::vector<NamedArray> tensors{{"w", {data.data(), Dtype::kFloat32, shape}}};
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  std::string expected = file_with(padded, 0);
  expected.append(reinterpret_cast<const char*>(data.data()), sizeof data);
  EXPECT_EQ(bytes_for(tensors), expected);
}

TEST(Safetensors, an_empty_file_is_a_file) {
  const Safetensors file = Safetensors::parse(bytes_of(bytes_for({})), "empty");
  EXPECT_TRUE(file.tensors().empty());
}

TEST(Safetensors, follows_the_names_of_tied_tensors) {
  std::array<float, 1> data{1.0F};
  const Shape shape{1};
  const std::vector<NamedArray> tensors{{"encoder.weight", {data.data(), Dtype::kFloat32, shape}}};
  const std::string bytes = bytes_for(tensors, {{"decoder.weight", "encoder.weight"}, {"format", "pt"}});
  const Safetensors file = Safetensors::parse(bytes_of(bytes), "tied");
  EXPECT_EQ(file.find("decoder.weight"), file.find("encoder.weight"));
  EXPECT_NE(file.find("decoder.weight"), nullptr);
  EXPECT_EQ(file.find("format"), nullptr);
  EXPECT_EQ(file.aliases(), (Metadata{{"decoder.weight", "encoder.weight"}}));
}

TEST(Safetensors, escapes_names_as_json_does) {
  std::array<uint8_t, 1> data{7};
  const Shape shape{1};
  const std::string name = "a\"b\\c\n\xC3\xA9";
  const std::vector<NamedArray> tensors{{name, {data.data(), Dtype::kUint8, shape}}};
  EXPECT_NE(Safetensors::parse(bytes_of(bytes_for(tensors)), "names").find(name), nullptr);
}

TEST(Safetensors, does_not_write_what_it_would_not_read) {
  std::array<uint8_t, 1> data{7};
  const Shape shape{1};
  const Array array{data.data(), Dtype::kUint8, shape};
  for (const auto& tensors :
       {std::vector<NamedArray>{{"", array}}, std::vector<NamedArray>{{"__metadata__", array}},
        std::vector<NamedArray>{{"a", array}, {"a", array}}, std::vector<NamedArray>{{"\xff", array}}}) {
    try {
      (void)bytes_for(tensors);
      FAIL() << "\"" << tensors.front().name << "\" was written";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kStorage);
    }
  }
}

TEST(Safetensors, keeps_arrays_aligned_where_the_file_does_not) {
  std::string file = file_with(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})",
      9);
  const double value = 0.625;
  std::memcpy(file.data() + file.size() - 8, &value, 8);
  const Safetensors parsed = Safetensors::parse(bytes_of(file), "odd");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(parsed.find("b")->array.data) % 8, 0U);
  EXPECT_EQ(parsed.find("b")->array.as<double>()[0], value);
}

TEST(Safetensors, stays_valid_when_moved) {
  const Tensors tensors;
  const std::string bytes = bytes_for(tensors.list);
  Safetensors first = Safetensors::parse(bytes_of(bytes), "first");
  const Safetensors second = std::move(first);
  const Array& array = second.find("layer.int64")->array;
  EXPECT_EQ(array.elements(), 15);
  EXPECT_EQ(std::memcmp(array.data, tensors.list[5].array.data, array.bytes()), 0);
}

struct BadFile {
  const char* name;
  std::string header;
  size_t data;
  const char* expected;
};

class SafetensorsRefuses : public testing::TestWithParam<BadFile> {};

TEST_P(SafetensorsRefuses, with_a_message_that_says_what_is_wrong) {
  const std::string message = refusal(file_with(GetParam().header, GetParam().data));
  EXPECT_EQ(message.rfind("FILE cannot be read as safetensors: ", 0), 0U) << message;
  EXPECT_NE(message.find(GetParam().expected), std::string::npos) << message;
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format(R"({{"w":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
}

std::string two_tensors(const std::string& first, const std::string& second) {
  return fmt::format(
      R"({{"a":{{"dtype":"U8","shape":[2],"data_offsets":{}}},"b":{{"dtype":"U8","shape":[2],"data_offsets":{}}}}})",
      first, second);
}

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsRefuses,
    testing::Values(
        BadFile{"not_an_object", "[]", 0, "not a JSON object"}, BadFile{"broken_json", "{\"w\":", 0, "parse error"},
        BadFile{"deep", "{\"w\":" + std::string(100, '[') + std::string(100, ']') + "}", 0, "nested deeper"},
        BadFile{"twice", R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{}})", 1, "\"w\" is there twice"},
        BadFile{"twice_within", R"({"w":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1,
                "\"dtype\" is there twice"},
        BadFile{"metadata", R"({"__metadata__":{"a":1}})", 0, "\"a\", which is no string"},
        BadFile{"metadata_list", R"({"__metadata__":[]})", 0, "not an object of strings"},
        BadFile{"missing_member", R"({"w":{"dtype":"U8","shape":[1]}})", 1, "not described by exactly"},
        BadFile{"extra_member", R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})", 1,
                "not described by exactly"},
        BadFile{"unknown_dtype", tensor("\"F8_E4M3\"", "[1]", "[0,1]"), 1, "\"F8_E4M3\", which is not supported"},
        BadFile{"dtype_number", tensor("3", "[1]", "[0,1]"), 1, "not supported"},
        BadFile{"negative", tensor("\"U8\"", "[-1]", "[0,1]"), 1, "-1 is no unsigned integer"},
        BadFile{"fractional", tensor("\"U8\"", "[1.0]", "[0,1]"), 1, "1.0 is no unsigned integer"},
        BadFile{"overflow", tensor("\"F32\"", "[4611686018427387904,2]", "[0,1]"), 1, "its shape is too large"},
        BadFile{"overflow_before_nothing", tensor("\"F32\"", "[4611686018427387904,4,0]", "[0,0]"), 0,
                "its shape is too large"},
        BadFile{"wraps_to_zero", tensor("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0, "its shape is too large"},
        BadFile{"huge_axis", tensor("\"U8\"", "[18446744073709551615]", "[0,1]"), 1, "too large"},
        BadFile{"huge_offset", tensor("\"U8\"", "[1]", "[18446744073709551615,18446744073709551615]"), 1, "cut off"},
        BadFile{"reversed", tensor("\"U8\"", "[1]", "[1,0]"), 1, "bytes 1 to 0"},
        BadFile{"beyond_the_end", tensor("\"U8\"", "[2]", "[0,2]"), 1, "bytes 0 to 2 of 1"},
        BadFile{"wrong_size", tensor("\"U8\"", "[3]", "[0,2]"), 2, "U8 [3] does not fill the 2 bytes"},
        BadFile{"bytes_left_over", tensor("\"U8\"", "[1]", "[0,1]"), 2, "end at byte 1, the file has 2"},
        BadFile{"gap", tensor("\"U8\"", "[1]", "[1,2]"), 2, "starts at byte 1 where byte 0 is due"},
        BadFile{"overlap", two_tensors("[0,2]", "[1,3]"), 3, "\"b\" starts at byte 1 where byte 2 is due"},
        BadFile{"shape_no_list", tensor("\"U8\"", "1", "[0,1]"), 1, "shape is not a list"},
        BadFile{"three_offsets", tensor("\"U8\"", "[1]", "[0,1,2]"), 1, "list of two offsets"}),
    [](const auto& tested) { return tested.param.name; });

TEST(Safetensors, refuses_a_bool_that_is_neither_true_nor_false) {
  std::string file = file_with(tensor("\"BOOL\"", "[1]", "[0,1]"), 1);
  EXPECT_EQ(refusal(file), "nothing was thrown");
  file.back() = '\2';
  EXPECT_NE(refusal(file).find("neither 0 nor 1"), std::string::npos);
}

TEST(Safetensors, refuses_every_truncation) {
  const Tensors tensors;
  const std::string whole = bytes_for(tensors.list, {{"format", "pt"}});
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refusal(whole.substr(0, length)), "nothing was thrown") << length;
  }
}

TEST(Safetensors, survives_twenty_thousand_damaged_files) {
  const Tensors tensors;
  const std::string whole = bytes_for(tensors.list, {{"format", "pt"}, {"tied", "scalar"}});
  const size_t header = whole.find(std::string(1, '}') + std::string(1, '}')) + 2;
  std::mt19937_64 random(7);
  const auto below = [&random](size_t n) { return static_cast<size_t>(random() % n); };
  constexpr std::string_view kMeaningful = "0123456789{}[]\",:-.eEtn \\";
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string file = whole;
    for (size_t change = below(4); change < 4; ++change) {
      const size_t place = below(round % 4 == 0 ? file.size() : header);
      switch (below(4)) {
        case 0: file[place] = static_cast<char>(random()); break;
        case 1: file[place] = kMeaningful[below(kMeaningful.size())]; break;
        case 2: file.erase(place, below(9)); break;
        default: file.insert(place, whole.substr(below(whole.size()), below(9)));
      }
      if (file.empty()) break;
    }
    try {
      const Safetensors parsed = Safetensors::parse(bytes_of(file), "mutation");
      uint64_t sum = 0;
      for (const Safetensors::Tensor& tensor : parsed.tensors()) {  // every byte promised must be there
        const auto* bytes = static_cast<const unsigned char*>(tensor.array.data);
        for (size_t i = 0; i < tensor.array.bytes(); ++i) {
          sum += bytes[i];
        }
      }
      ASSERT_LE(sum, 255 * file.size());
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kCheckpoint);
      ++refused;
    }
  }
  EXPECT_GT(refused, 10'000);
}

}  // namespace
}  // namespace tenon::core
