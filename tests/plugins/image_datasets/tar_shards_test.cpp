// dataset:tar_shards: samples as WebDataset has them, from archives of every kind of header, and archives that are
// wrong.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <random>

#include <plugins/datasets/rows.hpp>
#include <plugins/image_datasets/images.hpp>

namespace tenon::test {
namespace {

/// Writes archives by POSIX.
class Tar {
 public:
  Tar& add(const std::string& name, const std::string& content, char type = '0', const std::string& prefix = "") {
    std::string header(512, '\0');
    const auto place = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
    place(0, name.substr(0, 100));
    place(100, "0000644");
    place(124, octal(type == '5' ? 0 : content.size(), 11));
    place(136, octal(static_cast<std::size_t>(++time_), 11));
    place(148, "        ");
    header[156] = type;
    place(257, std::string("ustar\0", 6) + "00");
    place(345, prefix);
    seal(header);
    text_ += header + content + std::string((512 - content.size() % 512) % 512, '\0');
    return *this;
  }

  /// A name of any length, as GNU tar has it.
  Tar& add_gnu(const std::string& name, const std::string& content) {
    add("././@LongLink", name + '\0', 'L');
    return add(name.substr(0, 100), content);
  }

  /// A name of any length, as pax has it, with the size there too.
  Tar& add_pax(const std::string& name, const std::string& content) {
    add("PaxHeaders/0", record("mtime", "1.5") + record("path", name) + record("size", std::to_string(content.size())),
        'x');
    add("short", content);
    std::string header = text_.substr(text_.size() - 512 - (content.size() + 511) / 512 * 512, 512);
    header.replace(124, 11, "00000000000");
    seal(header);
    text_.replace(text_.size() - 512 - (content.size() + 511) / 512 * 512, 512, header);
    return *this;
  }

  /// A size as GNU tar writes it where octal digits do not suffice.
  Tar& add_binary_size(const std::string& name, const std::string& content) {
    add(name, content);
    const std::size_t at = text_.size() - 512 - (content.size() + 511) / 512 * 512;
    std::string header = text_.substr(at, 512);
    std::string size(12, '\0');
    size[0] = '\x80';
    size[11] = static_cast<char>(content.size() & 0xFFU);
    size[10] = static_cast<char>(content.size() >> 8U);
    header.replace(124, 12, size);
    seal(header);
    text_.replace(at, 512, header);
    return *this;
  }

  [[nodiscard]] std::string text() const { return text_ + std::string(1024, '\0'); }

 private:
  static std::string octal(std::size_t number, std::size_t digits) {
    std::string text(digits, '0');
    for (std::size_t i = digits; i-- > 0; number /= 8) text[i] = static_cast<char>('0' + number % 8);
    return text;
  }

  static void seal(std::string& header) {
    header.replace(148, 8, "        ");
    std::size_t sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    header.replace(148, 7, octal(sum, 6) + '\0');
  }

  static std::string record(const std::string& key, const std::string& value) {
    const std::string rest = " " + key + "=" + value + "\n";
    std::size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length) ++length;
    return std::to_string(length) + rest;
  }

  std::string text_;
  int time_ = 0;
};

class TarShards : public testing::Test {
 protected:
  [[nodiscard]] Json params(const Json& fields, const std::string& paths = "*.tar",
                            const Json& more = Json::object()) const {
    Json json{{"paths", {folder_ / paths}}, {"fields", fields}};
    json.update(more);
    return json;
  }

  [[nodiscard]] Json plain(const Json& more = Json::object()) const { return params(image_and_label_, "*.tar", more); }

  void write(const std::string& name, const Tar& tar) const { put(folder_ / name, tar.text()); }

  TemporaryFolder folder_;
  Json image_and_label_{{{"name", "image"}, {"type", "image"}, {"extensions", {"pgm"}}},
                        {{"name", "label"}, {"type", "integer"}}};
};

/// A file of numpy.
template <class T>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<T>& values,
                bool fortran_order = false) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + bytes_of(values);
}

TEST_F(TarShards, FilesThatShareANameUpToTheFirstPointMakeASample) {
  write("b-10.tar", Tar().add("e.pgm", slope(2, 2, 5)).add("e.cls", "4\n"));
  write("b-2.tar", Tar()
                       .add("x/", "", '5')
                       .add("x/c.cls", " 7 ")
                       .add("x/c.seg.pgm", "not this one")
                       .add("x/c.PGM", slope(3, 2))
                       .add("x/c", "no extension")
                       .add(".hidden.cls", "9")
                       .add("__meta.cls__", "9")
                       .add("x/link.cls", "", '2')
                       .add("x/d.pgm", slope(1, 1, 9))
                       .add("x/d.cls", "-3"));
  const auto dataset = images_opened("tar_shards", plain({{"color", "grey"}}));
  EXPECT_EQ(text_of(dataset->spec()), "image uint8[H, W, 1], label int64[]");
  ASSERT_EQ(dataset->size(), 3);
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{7, -3, 4}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 0, "image"), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 1, "image"), (std::vector<uint8_t>{9}));
  expect_column<int64_t>(*dataset, "label");
  EXPECT_EQ(item_name(*dataset, 0), (folder_ / "b-2.tar").string() + ", byte 3072");
}

TEST_F(TarShards, NamesOfEveryHeaderAreRead) {
  const std::string deep(90, 'd');
  const std::string longer(300, 'l');
  write("a.tar", Tar()
                     .add("one.pgm", slope(1, 1, 1), '\0')
                     .add("one.cls", "1")
                     .add("two.pgm", slope(1, 1, 2), '0', deep)
                     .add("two.cls", "2", '0', deep)
                     .add_gnu(longer + "/three.pgm", slope(1, 1, 3))
                     .add_gnu(longer + "/three.cls", "3")
                     .add("", "comment", 'g')
                     .add_pax(longer + "/four.pgm", slope(1, 1, 4))
                     .add_pax(longer + "/four.cls", "4")
                     .add_binary_size("five.pgm", slope(1, 1, 5))
                     .add_binary_size("five.cls", "5"));
  const auto dataset = images_opened("tar_shards", plain({{"color", "grey"}}));
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(column<uint8_t>(*dataset, "image"), (std::vector<uint8_t>{1, 2, 3, 4, 5}));
}

TEST_F(TarShards, GiveTextsBytesNumbersArraysAndValuesOfJson) {
  const std::string array = npy<int16_t>("<i2", "(2, 2)", {1, 3, 2, 4}, true);
  const std::string json =
      R"({"skip": [{"a": "}]\""}, 1.5e3, null], "who": {"name": "\u00e4nn \ud83d\ude00\n", "old": true},
          "boxes": [[0], [7, -2.5]], "kind": "12"})";
  write("a.tar",
        Tar().add("s.txt", "grün\n").add("s.bin", std::string("\0\xFF", 2)).add("s.npy", array).add("s.json", json));
  const Json fields{{{"name", "t"}, {"type", "text"}},
                    {{"name", "b"}, {"type", "bytes"}, {"extensions", {".BIN"}}},
                    {{"name", "a"}, {"type", "npy"}, {"dtype", "int16"}, {"shape", {2, 2}}},
                    {{"name", "who"}, {"type", "text"}, {"pick", "who.name"}},
                    {{"name", "old"}, {"type", "integer"}, {"pick", "who.old"}},
                    {{"name", "box"}, {"type", "number"}, {"pick", "boxes.1.1"}},
                    {{"name", "kind"}, {"type", "integer"}, {"pick", "kind"}}};
  const auto dataset = images_opened("tar_shards", params(fields));
  EXPECT_EQ(text_of(dataset->spec()),
            "t uint8[?], b uint8[?], a int16[2, 2], who uint8[?], old int64[], box float32[], kind int64[]");
  const auto text = [&](const std::string& field) {
    const auto bytes = field_of<uint8_t>(*dataset, 0, field);
    return std::string(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(text("t"), "grün\n");
  EXPECT_EQ(text("b"), std::string("\0\xFF", 2));
  EXPECT_EQ(text("who"), "änn 😀\n");
  EXPECT_EQ(field_of<int16_t>(*dataset, 0, "a"), (std::vector<int16_t>{1, 2, 3, 4}));
  EXPECT_EQ(field_of<int64_t>(*dataset, 0, "old"), (std::vector<int64_t>{1}));
  EXPECT_EQ(field_of<float>(*dataset, 0, "box"), (std::vector<float>{-2.5F}));
  EXPECT_EQ(field_of<int64_t>(*dataset, 0, "kind"), (std::vector<int64_t>{12}));
  expect_column<float>(*dataset, "box");
}

TEST_F(TarShards, ArraysHaveAnyLengthAlongAFreeAxis) {
  write("a.tar", Tar()
                     .add("0.npy", npy<float>("<f4", "(2, 4)", {1, 2, 3, 4, 5, 6, 7, 8}))
                     .add("1.npy", npy<float>("<f4", "(0, 4)", {}))
                     .add("2.npy", npy<float>("<f4", "(2, 4)", {1, 5, 2, 6, 3, 7, 4, 8}, true))
                     .add("3.npy", npy<float>("<f4", "(3, 4)", std::vector<float>(12, 0.5F)))
                     .add("4.npy", npy<float>("<f4", "(3, 5)", std::vector<float>(15)))
                     .add("5.npy", npy<float>("<f4", "(4,)", std::vector<float>(4)))
                     .add("6.npy", npy<double>("<f8", "(1, 4)", std::vector<double>(4))));
  const Json boxes{{{"name", "boxes"}, {"type", "npy"}, {"shape", {-1, 4}}}};
  const auto dataset = images_opened("tar_shards", params(boxes));
  EXPECT_EQ(text_of(dataset->spec()), "boxes float32[?, 4]");
  EXPECT_EQ(shape_of(*dataset, 0, "boxes"), (Shape{2, 4}));
  EXPECT_EQ(field_of<float>(*dataset, 0, "boxes"), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(shape_of(*dataset, 1, "boxes"), (Shape{0, 4}));
  EXPECT_EQ(field_of<float>(*dataset, 2, "boxes"), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(shape_of(*dataset, 3, "boxes"), (Shape{3, 4}));
  expect_error(unreadable(*dataset, 4), ErrorCode::kData, "",
               {"\"4.npy\"", "holds float32[3, 5], but the pipeline says float32[?, 4]"});
  expect_error(unreadable(*dataset, 5), ErrorCode::kData, "", {"holds float32[4], but"});
  expect_error(unreadable(*dataset, 6), ErrorCode::kData, "", {"holds float64[1, 4], but"});
  const Json all_free{{{"name", "a"}, {"type", "npy"}, {"shape", {-1, -1}}}};
  EXPECT_EQ(shape_of(*images_opened("tar_shards", params(all_free)), 4, "a"), (Shape{3, 5}));
}

TEST_F(TarShards, ARegionIsThatOfTheWholeImage) {
  write("a.tar", Tar().add("a.pgm", slope(5, 4)).add("a.cls", "1"));
  const auto dataset = images_opened("tar_shards", plain({{"color", "grey"}}));
  auto* const partial = ability<PartialRead>(*dataset);
  ASSERT_NE(partial, nullptr);
  EXPECT_EQ(partial->partial_field(), "image");
  MemorySample part(dataset->spec());
  partial->read_part(
      0,
      [](const Extent& whole) {
        EXPECT_EQ(whole, (Extent{4, 5}));
        return Region{1, 2, 2, 3};
      },
      part);
  EXPECT_EQ(part.written_shape("image"), (Shape{2, 3, 1}));
  EXPECT_EQ(part.written<uint8_t>("image"), (std::vector<uint8_t>{8, 9, 10, 13, 14, 15}));
  EXPECT_EQ(part.written<int64_t>("label"), (std::vector<int64_t>{1}));
}

TEST_F(TarShards, SamplesThatLackAFileAreNamedOrDroppedAndCounted) {
  write("a.tar", Tar().add("a.pgm", slope(1, 1)).add("a.cls", "1").add("b.jpg", "x").add("b.cls", "2"));
  write("b.tar", Tar().add("c.pgm", slope(1, 1)).add("d.pgm", slope(1, 1)).add("d.cls", "3"));
  expect_error(images_refused("tar_shards", plain()), ErrorCode::kData, "/paths/0",
               {"a.tar: at byte", "sample \"b\" has no file of .pgm, but .jpg, .cls", "\"missing\": \"skip\""});
  const auto dataset = images_opened("tar_shards", plain({{"missing", "skip"}}));
  EXPECT_EQ(column<int64_t>(*dataset, "label"), (std::vector<int64_t>{1, 3}));
  ASSERT_EQ(remarks_of(*dataset).size(), 1U);
  EXPECT_NE(remarks_of(*dataset)[0].find("2 of 4 samples lack a file"), std::string::npos);
  Json other = plain({{"missing", "skip"}});
  other["fields"][1]["extensions"] = {"label"};
  expect_error(images_refused("tar_shards", other), ErrorCode::kData, "/paths/0",
               {"no sample has a file of each field"});
}

TEST_F(TarShards, ArchivesThatAreWrongAreNamedWithThePlace) {
  const Tar tar = Tar().add("a.pgm", slope(1, 1)).add("a.cls", "1").add("b.pgm", slope(40, 40)).add("b.cls", "2");
  const std::string whole = tar.text();
  const auto says = [&](const std::string& content, const std::vector<std::string>& parts) {
    put(folder_ / "a.tar", content);
    expect_error(images_refused("tar_shards", plain()), ErrorCode::kData, "/paths/0", parts);
  };
  says("no archive at all", {"a.tar: at byte 0: is cut off"});
  const auto packed = [&](const std::string& magic, const std::string& tool) {
    for (const std::size_t size : {100U, 5000U}) {
      says(magic + std::string(size, 'x'), {"a.tar: is packed", "unpack it with " + tool + ", and name the archive"});
    }
  };
  packed("\x1f\x8b\x08", "gunzip");
  packed("\x28\xb5\x2f\xfd", "unzstd");
  packed(
      "\xfd"
      "7zXZ",
      "unxz");
  packed("BZh9", "bunzip2");
  says(std::string(2000, 'x'), {"a.tar: at byte 0: is no tar archive"});
  says(whole.substr(0, 3000), {"at byte 2048: is cut off: \"b.pgm\" has 1613 bytes, and 440 are there"});
  says(whole.substr(0, 2048 + 100), {"at byte 2048: is cut off within a header"});
  std::string damaged = whole;
  damaged[1024 + 5] ^= 1;
  says(damaged, {"at byte 1024: a header is damaged"});
  says(Tar().add("a.pgm", "1").add("a.cls", "1").add("a.cls", "2").text(), {"sample \"a\" has a second file of .cls"});
  says("", {"no sample has a file of each field"});
  expect_error(images_refused("tar_shards", params(image_and_label_, "none-{0..1}.tar")), ErrorCode::kData, "/paths/0",
               {"none-0.tar", "No such file"});
}

TEST_F(TarShards, PatternsThatAreNoneAreNamedAsTheyAreWritten) {
  write("a.tar", Tar().add("a.pgm", slope(1, 1)).add("a.cls", "1"));
  const auto refused = [&](const std::string& pattern, const std::vector<std::string>& says) {
    expect_error(images_refused("tar_shards", params(image_and_label_, pattern)), ErrorCode::kData, "/paths/0", says);
  };
  for (const char* const range : {"{3..0}", "{0..c}", "{..4}", "{a..c}", "{-1..3}"}) {
    refused(std::string("x-").append(range).append(".tar"),
            {std::string("x-").append(range).append(".tar: there is no such file, and ").append(range), "is no range",
             "{000..146}"});
  }
  refused("x-{0..1}-{3..0}.tar", {"x-{0..1}-{3..0}.tar: there is no such file, and {3..0} is no range"});
  refused("x-{0..99999999}.tar", {"x-{0..99999999}.tar: stands for more than 1000000 files"});
  refused("x-{3}.tar", {"x-{3}.tar: cannot be read: No such file"});
  refused("x-{}.tar", {"x-{}.tar: cannot be read: No such file"});
  write("x-{3..0}.tar", Tar().add("a.pgm", slope(1, 1)).add("a.cls", "1"));
  EXPECT_EQ(images_opened("tar_shards", params(image_and_label_, "x-{3..0}.tar"))->size(), 1);
}

TEST_F(TarShards, AShardWithoutAnEndMarkIsReadAndNamedInARemark) {
  const std::string whole = Tar().add("a.pgm", slope(1, 1)).add("a.cls", "1").text();
  const auto remarks_with = [&](std::size_t cut) {
    put(folder_ / "b.tar", whole.substr(0, whole.size() - cut));
    const auto dataset = images_opened("tar_shards", plain());
    EXPECT_EQ(field_of<int64_t>(*dataset, 1, "label"), (std::vector<int64_t>{1}));
    return joined(remarks_of(*dataset));
  };
  put(folder_ / "a.tar", whole);
  EXPECT_EQ(remarks_with(0), "");
  EXPECT_EQ(remarks_with(512), "");                      // one block of the two is enough
  for (const std::size_t cut : {1024U, 1024U + 400U}) {  // behind the last file, with and without its padding
    EXPECT_EQ(remarks_with(cut), (folder_ / "b.tar").string() +
                                     ": has no end-of-archive mark and may be cut off between two files: compare the "
                                     "size with that of the original\n");
  }
  for (int i = 0; i < 6; ++i) put(folder_ / ("c" + std::to_string(i) + ".tar"), whole.substr(0, whole.size() - 1024));
  EXPECT_NE(remarks_with(1024).find("c2.tar and 3 more: have no end-of-archive mark"), std::string::npos);
}

TEST_F(TarShards, FilesThatAreWrongAreNamedWhenTheyAreRead) {
  write("a.tar",
        Tar().add("x/a.pgm", "P5 no image").add("x/a.cls", "seven").add("b.pgm", slope(1, 1)).add("b.cls", ""));
  const auto dataset = images_opened("tar_shards", plain());
  expect_error(unreadable(*dataset, 0), ErrorCode::kData, "", {"a.tar: \"x/a.pgm\" at byte 512: "});
  expect_error(unreadable(*dataset, 1), ErrorCode::kData, "", {"\"b.cls\" at byte", "holds nothing"});
  write("a.tar", Tar().add("x/a.pgm", slope(1, 1)).add("x/a.cls", "seven"));
  const auto label = images_opened("tar_shards", plain());
  expect_error(unreadable(*label, 0), ErrorCode::kData, "", {"\"x/a.cls\"", "holds \"seven\", which is no integer"});
  EXPECT_EQ(ability<Columns>(*label)->column("label"), std::nullopt) << "it takes reading to tell which are bad";
  write("a.tar", Tar().add("a.pgm", slope(1, 1)).add("a.cls", "1"));
  const auto shortened = images_opened("tar_shards", plain());
  put(folder_ / "a.tar", "");
  expect_error(unreadable(*shortened, 0), ErrorCode::kData, "",
               {"a.tar: the file at byte 512: the archive became shorter while it was read"});
  const auto json = [&](const std::string& content) {
    write("j.tar", Tar().add("a.json", content));
    const Json fields{{{"name", "n"}, {"type", "integer"}, {"pick", "a.b"}}};
    return unreadable(*images_opened("tar_shards", params(fields, "j.tar")), 0);
  };
  expect_error(json("{\"a\": {\"c\": 1}}"), ErrorCode::kData, "", {"\"a.json\"", "has no value \"a.b\""});
  expect_error(json("{\"a\": {\"b\": [1]}}"), ErrorCode::kData, "", {"its \"a.b\" is a list or an object"});
  expect_error(json("{\"a\": {\"b\": null}}"), ErrorCode::kData, "", {"its \"a.b\" is null"});
  for (const char* const broken : {"", "{", "{\"a\"", "{\"a\": {\"x\": \"\\u12", "[", "{\"a\": {\"b\":", "{x}"}) {
    EXPECT_EQ(json(broken).code(), ErrorCode::kData) << broken;
  }
  EXPECT_EQ(json("{\"z\": " + std::string(100'000, '[') + "}").code(), ErrorCode::kData);
}

TEST_F(TarShards, FileHandlesThatRunOutAreNoFaultOfASample) {
  constexpr int kShards = 257;  // more than are kept open
  for (int i = 0; i < kShards; ++i) {
    write("a" + std::to_string(i) + ".tar", Tar().add("a.pgm", slope(1, 1)).add("a.cls", "1"));
  }
  const auto dataset = images_opened("tar_shards", plain());
  const auto opening = [&] { (void)images_opened("tar_shards", plain()); };
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(next);
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Error reading = unreadable(*dataset, 7);
  const Error opened = error_of(opening);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  expect_error(reading, ErrorCode::kStorage, "/paths/0", {"a7.tar: cannot be read: Too many open files", "ulimit -n"});
  expect_error(opened, ErrorCode::kStorage, "/paths/0", {"cannot be read: Too many open files"});
  EXPECT_EQ(field_of<int64_t>(*dataset, 7, "label"), (std::vector<int64_t>{1}));
}

TEST_F(TarShards, FieldsThatContradictThemselvesAreRefused) {
  const auto refused_at = [&](const Json& field) {
    return error_of([&] { (void)images_made("tar_shards", params(Json::array({field}))); }).pointer();
  };
  EXPECT_EQ(refused_at({{"name", "b"}, {"type", "bytes"}}), "/fields/0/extensions");
  EXPECT_EQ(refused_at({{"name", "i"}, {"type", "image"}, {"pick", "a"}}), "/fields/0/pick");
  EXPECT_EQ(refused_at({{"name", "a"}, {"type", "npy"}, {"shape", {int64_t{1} << 40, int64_t{1} << 40}}}),
            "/fields/0/shape");
  EXPECT_EQ(refused_at({{"name", "a"}, {"type", "npy"}, {"shape", {-1, 0}}}), "/fields/0/shape/1");
  EXPECT_EQ(refused_at({{"name", "a"}, {"type", "npy"}, {"shape", {-2, 4}}}), "/fields/0/shape/0");
  Json twice = image_and_label_;
  twice[1]["name"] = "image";
  EXPECT_EQ(error_of([&] { (void)images_made("tar_shards", params(twice)); }).pointer(), "/fields/1/name");
}

TEST_F(TarShards, FingerprintFollowsTheSamplesAndNeitherTimesNorPaths) {
  const auto print = [&](const std::string& file, const Tar& tar) {
    write(file, tar);
    return images_opened("tar_shards", params(image_and_label_, file))->fingerprint();
  };
  const auto tar = [](const std::string& label, const std::string& name = "a") {
    return Tar().add(name + ".pgm", slope(2, 2)).add(name + ".cls", label);
  };
  const std::string first = print("a.tar", tar("1"));
  EXPECT_EQ(print("b.tar", tar("1")), first);
  EXPECT_EQ(print("c.tar", Tar().add("a.txt", "").add("a.pgm", slope(2, 2)).add("a.cls", "1")), first)
      << "times of the files differ here";
  EXPECT_NE(print("d.tar", tar("2")), first);
  EXPECT_NE(print("e.tar", tar("1", "b")), first);
}

TEST_F(TarShards, AHundredThousandSamplesAreIndexedFastAndInLittleMemory) {
  constexpr int kShards = 4;
  constexpr int kSamples = 25'000;
  const std::string image = slope(1, 1);
  for (int shard = 0; shard < kShards; ++shard) {
    std::ofstream out(folder_ / ("s-" + std::to_string(shard) + ".tar"), std::ios::binary);
    for (int i = 0; i < kSamples; ++i) {
      const std::string key = std::to_string(i);
      const std::string text = Tar().add(key + ".pgm", image).add(key + ".cls", std::to_string(shard)).text();
      out.write(text.data(), static_cast<std::streamsize>(text.size() - 1024));
    }
  }
  const int64_t before = own_memory();
  const auto begin = std::chrono::steady_clock::now();
  const auto dataset = images_opened("tar_shards", plain({{"color", "grey"}}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(dataset->size(), kShards * kSamples);
  std::cout << "a million samples would open in " << took.count() * 10 << " s\n";
  EXPECT_LT(took.count(), 5);  // some 0.2 s where nothing else runs
  if (before >= 0) {
    EXPECT_LT(own_memory() - before, 10 * 1024);  // 100 MB for a million
  }
  EXPECT_EQ(field_of<int64_t>(*dataset, 3 * kSamples - 1, "label"), (std::vector<int64_t>{2}));
  EXPECT_EQ(field_of<int64_t>(*dataset, 3 * kSamples, "label"), (std::vector<int64_t>{3}));
}

}  // namespace
}  // namespace tenon::test
