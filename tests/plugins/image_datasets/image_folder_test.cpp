// dataset:image_folder: which files are found, what they are called, and every way in which a folder can be wrong.
#include <sys/stat.h>

#include <filesystem>

#include <plugins/image_datasets/images.hpp>
#include <process_use.hpp>

namespace tenon::test {
namespace {

namespace fs = std::filesystem;

class ImageFolder : public testing::Test {
 protected:
  /// Two cats, one of them in a folder below, and a dog.
  ImageFolder() {
    put(root_ / "cat/b.pgm", slope(3, 2, 1));
    put(root_ / "cat/a/deep.PGM", slope(2, 2, 20));
    put(root_ / "dog/c.pgm", slope(1, 1, 60));
  }

  [[nodiscard]] Json params() const { return {{"path", root_.string()}, {"color", "grey"}}; }
  [[nodiscard]] Json params(const Json& more) const {
    Json json = params();
    json.update(more);
    return json;
  }

  TemporaryFolder folder_;
  fs::path root_ = folder_ / "images";
};

TEST_F(ImageFolder, SaysItsFieldsBeforeThereAreFiles) {
  EXPECT_EQ(text_of(images_made("image_folder", {{"path", "none"}})->spec()), "image uint8[H, W, 3], label int64[]");
  EXPECT_EQ(
      text_of(
          images_made("image_folder", {{"path", "none"}, {"color", "rgba"}, {"bits", 16}, {"labels", false}})->spec()),
      "image int32[H, W, 4]");
}

TEST_F(ImageFolder, ClassesAreFoldersAndImagesAreSortedByTheBytesOfTheirPaths) {
  const auto dataset = images_opened("image_folder", params());
  ASSERT_EQ(dataset->size(), 3);
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 0, "image"), (std::vector<uint8_t>{20, 21, 22, 23}));
  EXPECT_EQ(shape_of(*dataset, 1, "image"), (Shape{2, 3, 1}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 2, "image"), (std::vector<uint8_t>{60}));
  EXPECT_TRUE(remarks_of(*dataset).empty());
}

TEST_F(ImageFolder, KnowsItsLabelsWithoutReading) {
  const auto dataset = images_opened("image_folder", params());
  fs::remove(root_ / "dog/c.pgm");
  const auto* const columns = ability<Columns>(*dataset);
  EXPECT_EQ(columns->column("label"), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(columns->column("image"), std::nullopt);
}

TEST_F(ImageFolder, KnowsTheNamesOfItsClasses) {
  EXPECT_EQ(categories_of(*images_opened("image_folder", params()), "label"), (std::vector<std::string>{"cat", "dog"}));
  const auto listed = images_opened("image_folder", params({{"classes", {"dog", "wolf", "cat"}}}));
  EXPECT_EQ(categories_of(*listed, "label"), (std::vector<std::string>{"dog", "wolf", "cat"}));
  EXPECT_EQ(categories_of(*listed, "image"), std::nullopt);
  EXPECT_EQ(categories_of(*images_opened("image_folder", params({{"labels", false}})), "label"), std::nullopt);
}

TEST_F(ImageFolder, CallsItemsByTheirFiles) {
  const auto dataset = images_opened("image_folder", params());
  EXPECT_EQ(item_name(*dataset, 0), (root_ / "cat/a/deep.PGM").string());
  EXPECT_EQ(item_name(*dataset, 2), (root_ / "dog/c.pgm").string());
}

TEST_F(ImageFolder, WithoutLabelsReadsAllImages) {
  put(root_ / "z.pgm", slope(1, 1, 90));
  const auto dataset = images_opened("image_folder", params({{"labels", false}}));
  EXPECT_EQ(dataset->size(), 4);
  EXPECT_EQ(field_of<uint8_t>(*dataset, 3, "image"), (std::vector<uint8_t>{90}));
  EXPECT_EQ(ability<Columns>(*dataset)->column("label"), std::nullopt);
}

TEST_F(ImageFolder, AListOfClassesFixesTheirNumbers) {
  const auto dataset = images_opened("image_folder", params({{"classes", {"dog", "wolf", "cat"}}}));
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{0, 2, 2}));
  EXPECT_NE(joined(remarks_of(*dataset)).find("1 class has no images: \"wolf\""), std::string::npos);
  expect_error(images_refused("image_folder", params({{"classes", {"dog"}}})), ErrorCode::kData, "/classes",
               {root_.string(), "holds 1 folder", "does not name: \"cat\""});
  expect_error(images_refused("image_folder", params({{"classes", {"dog", "cat", "dog"}}})), ErrorCode::kConfig,
               "/classes/2", {"\"dog\" is named twice"});
  expect_error(images_refused("image_folder", params({{"classes", {"dog"}}, {"labels", false}})), ErrorCode::kConfig,
               "/classes", {"without labels"});
}

TEST_F(ImageFolder, TellsHowManyFilesItLeftOut) {
  put(root_ / "cat/notes.txt", "x");
  put(root_ / "dog/.hidden.pgm", "x");
  put(root_ / ".git/x.pgm", "x");
  put(root_ / "loose.pgm", "x");
  const auto dataset = images_opened("image_folder", params());
  EXPECT_EQ(dataset->size(), 3);
  const std::string said = joined(remarks_of(*dataset));
  EXPECT_NE(said.find("1 file is no image by its name and was left out: \"cat/notes.txt\""), std::string::npos) << said;
  EXPECT_NE(said.find("1 image lies beside the folders of classes"), std::string::npos) << said;
}

TEST_F(ImageFolder, TakesTheExtensionsThatItIsGiven) {
  put(root_ / "dog/d.dat", slope(1, 1, 7));
  const auto dataset = images_opened("image_folder", params({{"extensions", {".dat", ".pgm"}}}));
  EXPECT_EQ(dataset->size(), 4);
  expect_error(images_refused("image_folder", params({{"extensions", {"pgm"}}})), ErrorCode::kConfig, "/extensions/0",
               {"\".png\""});
}

TEST_F(ImageFolder, FollowsLinksButNotRound) {
  fs::create_directory_symlink(root_ / "cat", root_ / "wolf");
  fs::create_symlink(root_ / "cat/b.pgm", root_ / "dog/link.pgm");
  const auto dataset = images_opened("image_folder", params());
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{0, 0, 1, 1, 2, 2}));
  fs::create_directory_symlink(root_ / "cat", root_ / "cat/a/back");
  const auto round = images_opened("image_folder", params());
  EXPECT_EQ(column<int64_t>(*round, "label"), (std::vector<int64_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(joined(remarks_of(*round)), root_.string() +
                                            ": 2 links lead back to a folder above them and were not "
                                            "followed, such as \"cat/a/back\"\n");
  fs::create_directory_symlink(root_, root_ / "whole");
  expect_error(images_refused("image_folder", params()), ErrorCode::kData, "/path",
               {"1 class has no images: \"whole\"", "is a link that leads back to a folder above it"});
  EXPECT_EQ(images_opened("image_folder", params({{"labels", false}}))->size(), 6);
}

TEST_F(ImageFolder, WhatIsNoFileIsLeftOutAndCounted) {
  fs::create_directory(root_ / "cat/folder.pgm");
  put(root_ / "dog/more.pgm/d.pgm", slope(1, 1, 9));
  for (const char* const name : {"pipe.pgm", "cat/pipe.pgm", "dog/other.pgm"}) {
    ASSERT_EQ(::mkfifo((root_ / name).c_str(), 0600), 0);
  }
  const std::string said = joined(remarks_of(*images_opened("image_folder", params())));
  EXPECT_NE(said.find("3 entries are pipes, sockets or devices and were left out, such as \"cat/pipe.pgm\""),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("2 folders are called as images are: the images in them count, such as \"cat/folder.pgm\""),
            std::string::npos)
      << said;
  EXPECT_EQ(images_opened("image_folder", params())->size(), 4);
  fs::create_directory(root_ / "none");
  ASSERT_EQ(::mkfifo((root_ / "none/a.pgm").c_str(), 0600), 0);
  expect_error(images_refused("image_folder", {{"path", root_ / "none"}, {"labels", false}}), ErrorCode::kData, "/path",
               {"holds no images, but pipes, sockets or devices, such as \"a.pgm\""});
}

TEST_F(ImageFolder, ALinkThatLeadsNowhereIsToldWhenItIsRead) {
  fs::create_symlink(root_ / "gone", root_ / "dog/a.pgm");
  const auto dataset = images_opened("image_folder", params());
  expect_error(unreadable(*dataset, 2), ErrorCode::kData, "", {(root_ / "dog/a.pgm").string(), "No such file"});
}

TEST_F(ImageFolder, NamesTheFileThatCannotBeDecoded) {
  put(root_ / "cat/b.pgm", "GIF89a");
  const auto dataset = images_opened("image_folder", params());
  expect_error(unreadable(*dataset, 1), ErrorCode::kData, "",
               {(root_ / "cat/b.pgm").string() + ": ", "a GIF image", "JPEG, PNG"});
  put(root_ / "cat/b.pgm", slope(3, 2).substr(0, 14));
  expect_error(unreadable(*dataset, 1), ErrorCode::kData, "", {(root_ / "cat/b.pgm").string(), "cut off"});
}

TEST_F(ImageFolder, RefusesFoldersWithoutImages) {
  expect_error(images_refused("image_folder", {{"path", folder_ / "none"}}), ErrorCode::kData, "/path",
               {"none", "No such file"});
  expect_error(images_refused("image_folder", {{"path", (root_ / "dog/c.pgm").string()}}), ErrorCode::kData, "/path",
               {"is no folder"});
  expect_error(images_refused("image_folder", {{"path", (root_ / "dog").string()}}), ErrorCode::kData, "/path",
               {"holds 1 image, but no folder of a class", "\"labels\": false"});
  fs::create_directory(root_ / "empty");
  expect_error(images_refused("image_folder", params()), ErrorCode::kData, "/path",
               {"1 class has no images: \"empty\"", "\"classes\""});
  put(folder_ / "others/a/x.gif", "x");
  expect_error(images_refused("image_folder", {{"path", folder_ / "others"}}), ErrorCode::kData, "/path",
               {"hold no images", "1 other files", "a/x.gif", "extensions"});
  expect_error(images_refused("image_folder", {{"path", folder_ / "others"}, {"labels", false}}), ErrorCode::kData,
               "/path", {"holds no images", "extensions"});
  fs::create_directory(folder_ / "nothing");
  expect_error(images_refused("image_folder", {{"path", folder_ / "nothing"}}), ErrorCode::kData, "/path",
               {"no folder of a class and no image"});
}

TEST_F(ImageFolder, RefusesBitsThatNobodyHas) {
  expect_error(images_refused("image_folder", params({{"bits", 12}})), ErrorCode::kConfig, "/bits", {"8", "16"});
}

TEST_F(ImageFolder, FingerprintIsThatOfNamesAndOptionsAndOfNoPlace) {
  const std::string print = images_opened("image_folder", params())->fingerprint();
  fs::rename(root_, folder_ / "moved");
  const Json moved{{"path", folder_ / "moved"}, {"color", "grey"}};
  EXPECT_EQ(images_opened("image_folder", moved)->fingerprint(), print);
  Json colours = moved;
  colours["color"] = "rgb";
  EXPECT_NE(images_opened("image_folder", colours)->fingerprint(), print);
  fs::rename(folder_ / "moved/cat/b.pgm", folder_ / "moved/cat/c.pgm");
  const std::string renamed = images_opened("image_folder", moved)->fingerprint();
  EXPECT_NE(renamed, print);
  fs::rename(folder_ / "moved/cat/c.pgm", folder_ / "moved/dog/b.pgm");
  EXPECT_NE(images_opened("image_folder", moved)->fingerprint(), renamed);
}

TEST_F(ImageFolder, FingerprintIsThatOfTheSizesOfAllFilesAndOfNoTimes) {
  for (int i = 0; i < 130; ++i) put(root_ / ("dog/" + std::to_string(i) + ".pgm"), slope(2, 1, 3));
  const auto print = [&] { return images_opened("image_folder", params())->fingerprint(); };
  const std::string first = print();
  for (const auto& each : fs::recursive_directory_iterator(root_)) {
    if (each.is_regular_file()) fs::last_write_time(each, fs::file_time_type());
  }
  EXPECT_EQ(print(), first);
  for (const auto& each : fs::directory_iterator(root_ / "dog")) {
    fs::resize_file(each, each.file_size() + 1);
    EXPECT_NE(print(), first) << each.path();
    fs::resize_file(each, each.file_size() - 1);
  }
  EXPECT_EQ(print(), first);
}

TEST_F(ImageFolder, FingerprintIsThatOfTheContentWhereItIsReplacedAsAWhole) {
  const auto print = [&] { return images_opened("image_folder", params())->fingerprint(); };
  for (const std::size_t files : {1U, 64U, 1000U}) {
    for (std::size_t i = 0; i < files; ++i) put(root_ / ("dog/" + std::to_string(i) + ".pgm"), slope(90, 90, 3));
    const std::string first = print();
    for (std::size_t i = 0; i < files; ++i) put(root_ / ("dog/" + std::to_string(i) + ".pgm"), slope(90, 90, 4));
    EXPECT_NE(print(), first) << "other pixels, the same names and sizes";
  }
}

TEST_F(ImageFolder, KeepsNoFileOpen) {
  put(root_ / "dog/c.pgm", slope(3, 2).substr(0, 14));
  fs::create_symlink(root_ / "gone", root_ / "dog/d.pgm");
  const auto before = descriptors();
  const auto dataset = images_opened("image_folder", params());
  for (int i = 0; i < 300; ++i) {
    if (i % dataset->size() < 2) {
      (void)field_of<uint8_t>(*dataset, i % dataset->size(), "image");
    } else {
      EXPECT_EQ(unreadable(*dataset, i % dataset->size()).code(), ErrorCode::kData);
    }
  }
  EXPECT_EQ(descriptors(), before);
}

/// BMP of that size in one colour, which OpenCV decodes.
std::string bmp(uint32_t side) {
  std::string file = "BM" + std::string(52, '\0');
  const auto number = [&](std::size_t at, uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<char>(value >> 8 * i);
  };
  number(10, 54);
  number(14, 40);
  number(18, side);
  number(22, side);
  number(26, 1 | 24U << 16U);  // planes and bits
  return file + std::string(std::size_t{3} * side * side, '\7');
}

TEST_F(ImageFolder, DecodingStartsNoThreads) {
  put(root_ / "dog/c.pgm", bmp(1024));
  const auto dataset = images_opened("image_folder", params());
  const int before = test::threads_of_process();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(field_of<uint8_t>(*dataset, 2, "image"), std::vector<uint8_t>(std::size_t{1} << 20U, 7));
  }
  EXPECT_EQ(test::threads_of_process(), before);
}

TEST_F(ImageFolder, ReadsTheRegionThatIsChosenFromTheSize) {
  const auto dataset = images_opened("image_folder", params());
  const auto* const partial = ability<PartialRead>(*dataset);
  EXPECT_EQ(partial->partial_field(), "image");
  MemorySample sample(dataset->spec());
  partial->read_part(
      1,
      [](const Extent& whole) {
        EXPECT_EQ(whole, (Extent{2, 3}));
        return Region{1, 1, 1, 2};
      },
      sample);
  EXPECT_EQ(sample.written<uint8_t>("image"), (std::vector<uint8_t>{5, 6}));
  EXPECT_EQ(sample.written<int64_t>("label"), (std::vector<int64_t>{0}));
}

TEST_F(ImageFolder, RefusesRegionsOutsideOfTheImage) {
  const auto dataset = images_opened("image_folder", params());
  const auto* const partial = ability<PartialRead>(*dataset);
  for (const Region region : {Region{0, 0, 3, 1}, Region{0, 2, 1, 2}, Region{-1, 0, 1, 1}, Region{0, 0, 0, 1}}) {
    MemorySample sample(dataset->spec());
    const Error error = error_of([&] {
      partial->read_part(
          1, [&](const Extent&) { return region; }, sample);
    });
    expect_error(error, ErrorCode::kData, "", {"does not lie within an image of 3 x 2"});
  }
}

}  // namespace
}  // namespace tenon::test
