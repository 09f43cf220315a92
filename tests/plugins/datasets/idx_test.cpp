// dataset:idx: MNIST's format plain and packed, every type, and every way in which files can be wrong.
#include <algorithm>

#include <plugins/datasets/packed.hpp>
#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

std::string big_endian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>((number >> static_cast<unsigned>(shift)) & 0xFFU);
  return bytes;
}

std::string idx(char type, const std::vector<uint32_t>& axes, const std::string& data) {
  std::string file{'\0', '\0', type, static_cast<char>(axes.size())};
  for (const uint32_t axis : axes) file += big_endian(axis);
  return file + data;
}

template <class T>
std::string big_endian_all(const std::vector<T>& values) {
  std::string all;
  for (const T value : values) {
    std::string bytes = bytes_of(std::vector<T>{value});
    std::reverse(bytes.begin(), bytes.end());
    all += bytes;
  }
  return all;
}

std::string pixels(std::size_t count) {
  std::string data;
  for (std::size_t i = 0; i < count; ++i) data += static_cast<char>(i * 37 % 251);
  return data;
}

class Idx : public testing::Test {
 protected:
  /// Five images of 3 x 2 and their labels.
  Idx() {
    put(folder_ / "images", idx(8, {5, 3, 2}, pixels(30)));
    put(folder_ / "labels", idx(8, {5}, {4, 0, -1, 3, 2}));
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] Json params(const std::string& images, const std::string& labels = "") const {
    Json json{{"images", path(images)}, {"shape", {1, 3, 2}}};
    if (!labels.empty()) json["labels"] = path(labels);
    return json;
  }

  TemporaryFolder folder_;
};

TEST_F(Idx, SaysItsFieldsBeforeThereAreFiles) {
  EXPECT_EQ(text_of(made("idx", params("none"))->spec()), "image uint8[1, 3, 2]");
  Json json = params("none", "none");
  json.update({{"image_field", "x"}, {"label_field", "y"}, {"dtype", "float32"}});
  EXPECT_EQ(text_of(made("idx", json)->spec()), "x float32[1, 3, 2], y int64[]");
}

TEST_F(Idx, ReadsImagesAndLabelsToTheByte) {
  const auto dataset = opened("idx", params("images", "labels"));
  ASSERT_EQ(dataset->size(), 5);
  const std::string expected = pixels(30);
  EXPECT_EQ(column<uint8_t>(*dataset, "image"), std::vector<uint8_t>(expected.begin(), expected.end()));
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{4, 0, 255, 3, 2}));
}

TEST_F(Idx, LiesInMemoryAndTellsItsLabels) {
  const auto dataset = opened("idx", params("images", "labels"));
  expect_views(*dataset);
  expect_column<int64_t>(*dataset, "label");
  EXPECT_FALSE(ability<Columns>(*dataset)->column("image").has_value());
  expect_views(*opened("idx", params("images")));
}

TEST_F(Idx, TellsGzipByItsBytesAndReadsTheSame) {
  const std::string images = idx(8, {5, 3, 2}, pixels(30));
  put(folder_ / "packed", gzip(images));
  put(folder_ / "members.bin", gzip(images.substr(0, 20)) + gzip(images.substr(20)));
  put(folder_ / "plain.gz", images);
  const auto plain = opened("idx", params("images", "labels"));
  for (const char* const name : {"packed", "members.bin", "plain.gz"}) {
    const auto other = opened("idx", params(name, "labels"));
    EXPECT_EQ(column<uint8_t>(*other, "image"), column<uint8_t>(*plain, "image")) << name;
    EXPECT_EQ(other->fingerprint(), plain->fingerprint()) << name;
  }
}

TEST_F(Idx, UnpacksMoreThanOneBuffer) {
  const std::string data = pixels(3'000'000);
  put(folder_ / "large", gzip(idx(8, {3000, 1000}, data)));
  const auto dataset = opened("idx", {{"images", path("large")}, {"shape", {1000}}});
  EXPECT_EQ(column<uint8_t>(*dataset, "image"), std::vector<uint8_t>(data.begin(), data.end()));
}

template <class T>
void expect_kept(const TemporaryFolder& folder, char type, const std::vector<T>& values) {
  put(folder / "typed", idx(type, {static_cast<uint32_t>(values.size())}, big_endian_all(values)));
  const std::string name(name_of(dtype_for<T>()));
  const Json json{{"images", (folder / "typed").string()}, {"shape", Json::array()}, {"dtype", name}};
  const auto dataset = opened("idx", json);
  EXPECT_EQ(bytes_of(column<T>(*dataset, "image")), bytes_of(values)) << name;
  expect_column<T>(*dataset, "image");
}

TEST_F(Idx, KeepsEveryTypeToTheBit) {
  expect_kept<uint8_t>(folder_, 0x08, {0, 255, 3});
  expect_kept<int8_t>(folder_, 0x09, {-128, 127, 0});
  expect_kept<int16_t>(folder_, 0x0B, {-32768, 258, 1});
  expect_kept<int32_t>(folder_, 0x0C, {-2147483647, 16909060, 1});
  expect_kept<float>(folder_, 0x0D, {-1.5F, 3e-40F, 0.1F});
  expect_kept<double>(folder_, 0x0E, {-1.5, 1e-310, 0.1});
}

TEST_F(Idx, TakesLabelsOfAnyIntegerType) {
  const std::vector<int64_t> expected{-2, 300, 0, 1, 7};
  put(folder_ / "int16", idx(0x0B, {5}, big_endian_all<int16_t>({-2, 300, 0, 1, 7})));
  put(folder_ / "int32", idx(0x0C, {5}, big_endian_all<int32_t>({-2, 300, 0, 1, 7})));
  for (const char* const name : {"int16", "int32"}) {
    EXPECT_EQ(column<int64_t>(*opened("idx", params("images", name)), "label"), expected) << name;
  }
}

/// The vector of 39 bytes is that of the reference implementation's documentation.
TEST_F(Idx, FingerprintIsAHashOfTheData) {
  const std::string text = "Nobody inspects the spammish repetition";
  put(folder_ / "text", idx(8, {39}, text));
  const Json json{{"images", path("text")}, {"shape", Json::array()}};
  const std::string print = opened("idx", json)->fingerprint();
  EXPECT_NE(print.find(":fbcea83c8a378bf1:"), std::string::npos) << print;
  put(folder_ / "other", idx(8, {39}, text.substr(0, 38) + "m"));
  EXPECT_NE(opened("idx", {{"images", path("other")}, {"shape", Json::array()}})->fingerprint(), print);
  const std::string labelled = opened("idx", params("images", "labels"))->fingerprint();
  EXPECT_NE(opened("idx", params("images"))->fingerprint(), labelled);
  put(folder_ / "labels", idx(8, {5}, {4, 0, -1, 3, 1}));
  EXPECT_NE(opened("idx", params("images", "labels"))->fingerprint(), labelled);
}

TEST_F(Idx, NamesFilesThatAreNotThereOrNotIdx) {
  expect_error(refused("idx", params("nowhere")), ErrorCode::kData, "/images", {path("nowhere"), "No such file"});
  expect_error(refused("idx", params("images", "nowhere")), ErrorCode::kData, "/labels", {path("nowhere")});
  expect_error(refused("idx", params(".")), ErrorCode::kData, "/images", {"is a folder"});
  for (const std::string& content : {std::string(), std::string("PK\3\4zip"), std::string("\0\0\7\1\0\0\0\1x", 9),
                                     std::string("\0\0\10\0", 4), gzip("text")}) {
    put(folder_ / "foreign", content);
    expect_error(refused("idx", params("foreign")), ErrorCode::kData, "/images", {path("foreign"), "is no idx file"});
  }
}

TEST_F(Idx, SaysHowManyBytesAreMissingOrTooMany) {
  const std::string whole = idx(8, {5, 3, 2}, pixels(30));
  put(folder_ / "cut", whole.substr(0, whole.size() - 4));
  expect_error(refused("idx", params("cut")), ErrorCode::kData, "/images", {"is cut off", "takes 46 bytes", "has 42"});
  put(folder_ / "cut", gzip(whole.substr(0, whole.size() - 4)));
  expect_error(refused("idx", params("cut")), ErrorCode::kData, "/images",
               {"takes 46 bytes", "has 42 bytes once unpacked"});
  put(folder_ / "cut", whole.substr(0, 10));
  expect_error(refused("idx", params("cut")), ErrorCode::kData, "/images",
               {"header of 3 axes takes 16 bytes", "has 10"});
  put(folder_ / "long", whole + "x");
  expect_error(refused("idx", params("long")), ErrorCode::kData, "/images", {"is too long", "takes 46", "has 47"});
  put(folder_ / "huge", idx(8, {0xFFFFFFFFU, 0xFFFFFFFFU, 0xFFFFFFFFU}, "x"));
  expect_error(refused("idx", params("huge")), ErrorCode::kData, "/images", {"axes are too large"});
}

TEST_F(Idx, RefusesDamagedGzip) {
  const std::string packed = gzip(idx(8, {5, 3, 2}, pixels(30)));
  std::string flipped = packed;
  flipped[30] = static_cast<char>(flipped[30] ^ 1);
  put(folder_ / "flipped", flipped);
  expect_error(refused("idx", params("flipped")), ErrorCode::kData, "/images", {path("flipped"), "gzip", "damaged"});
  for (std::size_t length = 2; length < packed.size(); ++length) {
    put(folder_ / "cut", packed.substr(0, length));
    expect_error(refused("idx", params("cut")), ErrorCode::kData, "/images", {"gzip data is cut off"});
  }
  put(folder_ / "tail", packed + "more");
  expect_error(refused("idx", params("tail")), ErrorCode::kData, "/images", {"4 bytes lie behind the gzip data"});
}

TEST_F(Idx, ProposesTheShapeAndTheTypeThatFit) {
  Json json = params("images");
  json["shape"] = {1, 28, 28};
  expect_error(refused("idx", json), ErrorCode::kData, "/shape", {"[3, 2], 6 numbers", "784", "\"shape\": [1, 3, 2]"});
  json = params("images");
  json["dtype"] = "float32";
  expect_error(refused("idx", json), ErrorCode::kData, "/dtype", {"holds uint8, not float32", "\"dtype\": \"uint8\""});
}

TEST_F(Idx, AsksWhetherLabelsStandInTheImagesPlace) {
  expect_error(refused("idx", params("labels", "images")), ErrorCode::kData, "/images",
               {path("labels"), "5 single numbers", "exchanged"});
}

TEST_F(Idx, RefusesLabelsThatAreNotOneIntegerAnImage) {
  put(folder_ / "few", idx(8, {4}, pixels(4)));
  expect_error(refused("idx", params("images", "few")), ErrorCode::kData, "/labels",
               {"holds 4 labels", path("images") + " 5 images"});
  put(folder_ / "flat", idx(8, {5, 2}, pixels(10)));
  expect_error(refused("idx", params("images", "flat")), ErrorCode::kData, "/labels", {"holds uint8[5, 2]"});
  put(folder_ / "real", idx(0x0D, {5}, pixels(20)));
  expect_error(refused("idx", params("images", "real")), ErrorCode::kData, "/labels", {"holds float32[5]"});
}

TEST_F(Idx, RefusesAnEmptySetInputsAndOneNameTwice) {
  put(folder_ / "empty", idx(8, {0, 3, 2}, ""));
  expect_error(refused("idx", params("empty")), ErrorCode::kData, "/images", {"holds no images"});
  Json json = params("images", "labels");
  json["label_field"] = "image";
  expect_error(refused("idx", json), ErrorCode::kConfig, "/label_field", {"\"image\""});
  json = params("images");
  json["shape"] = {int64_t{1} << 40, int64_t{1} << 40};
  expect_error(refused("idx", json), ErrorCode::kConfig, "/shape", {"2^63"});
  const auto input = opened("idx", params("images"));
  Dataset* const inputs[] = {input.get()};
  EXPECT_EQ(error_of([&] { made("idx", params("images"))->open(inputs); }).code(), ErrorCode::kConfig);
}

}  // namespace
}  // namespace tenon::test
