// dataset:image_csv: images named by a table.
#include <plugins/image_datasets/images.hpp>

namespace tenon::test {
namespace {

class ImageCsv : public testing::Test {
 protected:
  ImageCsv() {
    put(folder_ / "images/a.pgm", slope(2, 1, 1));
    put(folder_ / "images/b.pgm", slope(1, 1, 50));
    table("file,kind,size\nimages/b.pgm,dog,1.5\nimages/a.pgm,cat,2\n");
  }

  void table(const std::string& text) { put(folder_ / "table.csv", text); }

  [[nodiscard]] Json params(const Json& more = Json::object()) const {
    Json json{{"path", folder_ / "table.csv"}, {"image", "file"}, {"color", "grey"}};
    json.update(more);
    return json;
  }

  TemporaryFolder folder_;
  Json fields_{{{"name", "label"}, {"column", "kind"}, {"type", "class"}}, {{"name", "size"}}};
};

TEST_F(ImageCsv, ReadsImagesAndColumnsInTheOrderOfTheRows) {
  const auto dataset = images_opened("image_csv", params({{"fields", fields_}}));
  EXPECT_EQ(text_of(dataset->spec()), "image uint8[H, W, 1], label int64[], size float32[]");
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_EQ(field_of<uint8_t>(*dataset, 0, "image"), (std::vector<uint8_t>{50}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 1, "image"), (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(column<float>(*dataset, "size"), (std::vector<float>{1.5F, 2}));
  const auto* const columns = ability<Columns>(*dataset);
  EXPECT_EQ(columns->column("label"), (std::vector<double>{1, 0}));
  EXPECT_EQ(columns->column("size"), (std::vector<double>{1.5, 2}));
}

TEST_F(ImageCsv, TakesClassesVectorsAndTexts) {
  fields_[0]["classes"] = {"dog", "wolf", "cat"};
  fields_[1] = {{"name", "both"}, {"columns", {"size", "size"}}};
  fields_.push_back({{"name", "word"}, {"column", "kind"}, {"type", "text"}});
  const auto dataset = images_opened("image_csv", params({{"fields", fields_}}));
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(field_of<float>(*dataset, 1, "both"), (std::vector<float>{2, 2}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 1, "word"), (std::vector<uint8_t>{'c', 'a', 't'}));
}

TEST_F(ImageCsv, NamesOfImagesCountFromTheRootOrAreAbsolute) {
  table("image\na.pgm\n" + (folder_ / "images/b.pgm").string() + "\n");
  const auto dataset = images_opened("image_csv", params({{"image", "image"}, {"root", folder_ / "images"}}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 0, "image"), (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 1, "image"), (std::vector<uint8_t>{50}));
  expect_error(images_refused("image_csv", params({{"image", "image"}})), ErrorCode::kData, "/root",
               {(folder_ / "a.pgm").string(), "first row", "root"});
}

TEST_F(ImageCsv, NamesTheColumnThatIsNotThere) {
  expect_error(images_refused("image_csv", params({{"image", "files"}})), ErrorCode::kData, "/image",
               {"has no column \"files\"", "did you mean \"file\"?"});
  fields_[1]["column"] = "sice";
  expect_error(images_refused("image_csv", params({{"fields", fields_}})), ErrorCode::kData, "/fields/1/column",
               {"has no column \"sice\""});
}

TEST_F(ImageCsv, TellsRowsThatLackAValue) {
  table("file,kind,size\nimages/b.pgm,dog,1.5\nimages/a.pgm,cat,\n");
  expect_error(images_refused("image_csv", params({{"fields", fields_}})), ErrorCode::kData, "/path",
               {"table.csv:3:18", "\"size\" is empty"});
  const auto dataset = images_opened("image_csv", params({{"fields", fields_}, {"missing", "skip"}}));
  EXPECT_EQ(dataset->size(), 1);
  EXPECT_NE(joined(remarks_of(*dataset)).find("1 of 2 rows lacks a value"), std::string::npos);
}

TEST_F(ImageCsv, RefusesClassesThatTheListDoesNotName) {
  fields_[0]["classes"] = {"dog"};
  expect_error(images_refused("image_csv", params({{"fields", fields_}})), ErrorCode::kData, "/fields/0/classes",
               {"holds 1 class", "\"cat\""});
  fields_[0]["classes"] = {"dog", "dog"};
  expect_error(images_refused("image_csv", params({{"fields", fields_}})), ErrorCode::kConfig, "/fields/0/classes",
               {"\"dog\" is named twice"});
  fields_[1]["classes"] = {"dog"};
  fields_[0].erase("classes");
  expect_error(images_refused("image_csv", params({{"fields", fields_}})), ErrorCode::kConfig, "/fields/1/classes",
               {"type class alone"});
}

TEST_F(ImageCsv, RefusesOneNameTwiceAndColumnsThatMakeNoVector) {
  fields_[1]["name"] = "image";
  expect_error(images_refused("image_csv", params({{"fields", fields_}})), ErrorCode::kConfig, "/fields/1/name",
               {"\"image\""});
  fields_[1] = {{"name", "x"}, {"columns", {"kind"}}, {"type", "class"}};
  expect_error(images_refused("image_csv", params({{"fields", fields_}})), ErrorCode::kConfig, "/fields/1/columns",
               {"make no vector"});
  expect_error(images_refused("image_csv", params({{"delimiter", "::"}})), ErrorCode::kConfig, "/delimiter",
               {"\"::\""});
}

TEST_F(ImageCsv, FingerprintIsThatOfTheRows) {
  const std::string print = images_opened("image_csv", params({{"fields", fields_}}))->fingerprint();
  table("file,kind,size\nimages/b.pgm,dog,1.5\nimages/a.pgm,dog,2\n");
  const std::string other = images_opened("image_csv", params({{"fields", fields_}}))->fingerprint();
  EXPECT_NE(other, print);
  table("file,kind,size\nimages/b.pgm,dog,1.5\nimages/b.pgm,dog,2\n");
  EXPECT_NE(images_opened("image_csv", params({{"fields", fields_}}))->fingerprint(), other);
}

TEST_F(ImageCsv, FingerprintIsThatOfTheImagesToo) {
  put(folder_ / "c.pgm", slope(2, 2));
  table("file\nimages/b.pgm\n" + (folder_ / "c.pgm").string() + "\nimages/gone.pgm\n");
  const auto print = [&] { return images_opened("image_csv", params())->fingerprint(); };
  std::string last = print();
  const auto changes = [&] { return std::exchange(last, print()) != last; };
  put(folder_ / "c.pgm", slope(2, 3));
  EXPECT_TRUE(changes()) << "another size, of a file with an absolute name";
  put(folder_ / "c.pgm", slope(2, 3, 9));
  EXPECT_TRUE(changes()) << "other pixels";
  put(folder_ / "images/b.pgm", slope(1, 1, 51));
  EXPECT_TRUE(changes()) << "other pixels, of a file with a name that counts from the root";
  put(folder_ / "images/gone.pgm", "");
  EXPECT_TRUE(changes()) << "a file that was not there";
  put(folder_ / "images/other.pgm", "");
  EXPECT_FALSE(changes());
}

TEST_F(ImageCsv, CallsItemsByTheirFiles) {
  EXPECT_EQ(item_name(*images_opened("image_csv", params()), 1), (folder_ / "images/a.pgm").string());
}

TEST_F(ImageCsv, KnowsTheNamesOfItsClasses) {
  const auto sorted = images_opened("image_csv", params({{"fields", fields_}}));
  EXPECT_EQ(categories_of(*sorted, "label"), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(categories_of(*sorted, "size"), std::nullopt);
  EXPECT_EQ(categories_of(*sorted, "kind"), std::nullopt) << "a column is no field";
  fields_[0]["classes"] = {"dog", "wolf", "cat"};
  const auto listed = images_opened("image_csv", params({{"fields", fields_}}));
  EXPECT_EQ(categories_of(*listed, "label"), (std::vector<std::string>{"dog", "wolf", "cat"}));
}

TEST_F(ImageCsv, ReadsARegionWithItsColumns) {
  const auto dataset = images_opened("image_csv", params({{"fields", fields_}}));
  MemorySample sample(dataset->spec());
  ability<PartialRead>(*dataset)->read_part(
      1,
      [](const Extent&) {
        return Region{0, 1, 1, 1};
      },
      sample);
  EXPECT_EQ(sample.written<uint8_t>("image"), (std::vector<uint8_t>{2}));
  EXPECT_EQ(sample.written<float>("size"), (std::vector<float>{2}));
}

}  // namespace
}  // namespace tenon::test
