// dataset:npy: files as numpy writes them, in both orders, as one file and as a folder, and files that are wrong.
#include <filesystem>
#include <numeric>

#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

std::string header(const std::string& dictionary, char version) {
  const std::size_t begin = version == 1 ? 10 : 12;
  std::string text = dictionary;
  while ((begin + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string length = bytes_of(std::vector<uint32_t>{static_cast<uint32_t>(text.size())});
  if (version == 1) length.resize(2);
  return std::string("\x93NUMPY") + version + '\0' + length + text;
}

/// What numpy.save writes.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data, bool fortran = false,
                char version = 1) {
  return header("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
                    ", }",
                version) +
         data;
}

template <class T>
std::vector<T> counting(std::size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

class Npy : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  [[nodiscard]] Json one(const std::string& file, const std::string& dtype, const Json& shape) const {
    return {{"fields", {{{"name", "x"}, {"path", path(file)}, {"dtype", dtype}, {"shape", shape}}}}};
  }

  /// The error of a file with this content as float32[2].
  [[nodiscard]] Error error_with(const std::string& content) const {
    put(folder_ / "wrong.npy", content);
    return refused("npy", one("wrong.npy", "float32", {2}));
  }

  TemporaryFolder folder_;
};

TEST_F(Npy, ReadsEveryFormatToTheBit) {
  const auto values = counting<float>(24);
  for (const char version : {'\1', '\2', '\3'}) {
    put(folder_ / "x.npy", npy("<f4", "(4, 3, 2)", bytes_of(values), false, version));
    const auto dataset = opened("npy", one("x.npy", "float32", {3, 2}));
    EXPECT_EQ(text_of(dataset->spec()), "x float32[3, 2]");
    ASSERT_EQ(dataset->size(), 4);
    EXPECT_EQ(column<float>(*dataset, "x"), values);
  }
}

TEST_F(Npy, PutsFortranOrderRight) {
  const auto values = counting<int16_t>(2 * 3 * 4);
  std::vector<int16_t> columns;  // first axis fastest
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t i = 0; i < 2; ++i) columns.push_back(values[(i * 3 + j) * 4 + k]);
    }
  }
  put(folder_ / "f.npy", npy("<i2", "(2, 3, 4)", bytes_of(columns), true));
  EXPECT_EQ(column<int16_t>(*opened("npy", one("f.npy", "int16", {3, 4})), "x"), values);
  put(folder_ / "f/0.npy", npy("<i2", "(2, 3, 4)", bytes_of(columns), true));
  EXPECT_EQ(column<int16_t>(*opened("npy", one("f", "int16", {2, 3, 4})), "x"), values);
  put(folder_ / "flat.npy", npy("<i2", "(24,)", bytes_of(values), true));
  EXPECT_EQ(column<int16_t>(*opened("npy", one("flat.npy", "int16", Json::array())), "x"), values);
}

TEST_F(Npy, KnowsEveryTypeThatFieldsHave) {
  const std::vector<std::pair<std::string, std::string>> types{
      {"|b1", "bool"},  {"|u1", "uint8"},   {"|i1", "int8"},    {"<i2", "int16"},  {"<i4", "int32"},
      {"<i8", "int64"}, {"<f2", "float16"}, {"<f4", "float32"}, {"<f8", "float64"}};
  for (const auto& [descr, name] : types) {
    const Dtype dtype = dtype_of(name).value();
    const std::string data(size_of(dtype) * 3, '\1');
    put(folder_ / "t.npy", npy(descr, "(3,)", data));
    const auto dataset = opened("npy", one("t.npy", name, Json::array()));
    EXPECT_EQ(dataset->spec()[0].dtype, dtype) << name;
    EXPECT_EQ(dataset->size(), 3) << name;
  }
}

TEST_F(Npy, ReadsAFolderInTheOrderOfNamesAndTheNumbersInThem) {
  const std::vector<std::string> names{"1", "2", "10", "a02b9", "a2b1", "a2b10", "a10", "b"};
  for (std::size_t i = names.size(); i-- > 0;) {
    const auto value = static_cast<double>(i);
    put(folder_ / "all" / (names[i] + ".npy"), npy("<f8", "(2,)", bytes_of<double>({value, -value})));
  }
  put(folder_ / "all/notes.txt", "not a sample");
  const std::vector<double> read = column<double>(*opened("npy", one("all", "float64", {2})), "x");
  std::vector<double> order;
  for (std::size_t i = 0; i < read.size(); i += 2) order.push_back(read[i]);
  EXPECT_EQ(order, (std::vector<double>{0, 1, 2, 4, 3, 5, 6, 7}));
}

TEST_F(Npy, LiesInMemoryWhereOneFileHoldsItInOrder) {
  put(folder_ / "x.npy", npy("<f4", "(4, 3, 2)", bytes_of(counting<float>(24))));
  expect_views(*opened("npy", one("x.npy", "float32", {3, 2})));
  put(folder_ / "f.npy", npy("<f4", "(4, 3, 2)", bytes_of(counting<float>(24)), true));
  put(folder_ / "s/0.npy", npy("<f4", "(3, 2)", bytes_of(counting<float>(6))));
  for (const char* const file : {"f.npy", "s"}) {
    EXPECT_FALSE(ability<InMemory>(*opened("npy", one(file, "float32", {3, 2})))->can_view()) << file;
  }
}

TEST_F(Npy, TellsTheColumnOfSingleNumbersOfEveryType) {
  const auto expect = [&]<class T>(const std::string& descr, const std::string& dtype, const std::vector<T>& values) {
    put(folder_ / "c.npy", npy(descr, "(3,)", bytes_of(values)));
    expect_column<T>(*opened("npy", one("c.npy", dtype, Json::array())), "x");
  };
  expect("|u1", "uint8", std::vector<uint8_t>{0, 7, 255});
  expect("|i1", "int8", std::vector<int8_t>{0, 7, -128});
  expect("<i2", "int16", std::vector<int16_t>{0, 7, -3000});
  expect("<i4", "int32", std::vector<int32_t>{0, 7, -70000});
  expect("<i8", "int64", std::vector<int64_t>{0, 7, -(int64_t{1} << 53)});
  expect("<f4", "float32", std::vector<float>{0, 0.5F, -7});
  expect("<f8", "float64", std::vector<double>{0, 0.1, -7});
  put(folder_ / "c.npy", npy("<f4", "(3, 2)", bytes_of(counting<float>(6))));
  EXPECT_FALSE(ability<Columns>(*opened("npy", one("c.npy", "float32", {2})))->column("x").has_value());
}

TEST_F(Npy, GivesSeveralFieldsWithEqualCounts) {
  put(folder_ / "x.npy", npy("<f4", "(3, 2)", bytes_of(counting<float>(6))));
  put(folder_ / "y.npy", npy("<i8", "(3,)", bytes_of<int64_t>({7, 8, 9})));
  Json params = one("x.npy", "float32", {2});
  params["fields"].push_back({{"name", "y"}, {"path", path("y.npy")}, {"dtype", "int64"}, {"shape", Json::array()}});
  const auto dataset = opened("npy", params);
  EXPECT_EQ(text_of(dataset->spec()), "x float32[2], y int64[]");
  EXPECT_EQ(column<int64_t>(*dataset, "y"), (std::vector<int64_t>{7, 8, 9}));
  EXPECT_EQ(column<float>(*dataset, "x"), counting<float>(6));
  put(folder_ / "y.npy", npy("<i8", "(4,)", bytes_of<int64_t>({7, 8, 9, 10})));
  expect_error(refused("npy", params), ErrorCode::kData, "/fields/1/path",
               {path("y.npy") + ": holds 4 samples", path("x.npy") + " 3"});
}

TEST_F(Npy, FingerprintFollowsTheNumbersAlone) {
  put(folder_ / "a.npy", npy("<f4", "(3, 2)", bytes_of(counting<float>(6))));
  put(folder_ / "b.npy", npy("<f4", "(3, 2)", bytes_of(counting<float>(6)), false, '\2'));
  const std::string print = opened("npy", one("a.npy", "float32", {2}))->fingerprint();
  EXPECT_EQ(opened("npy", one("b.npy", "float32", {2}))->fingerprint(), print);
  std::vector<float> changed = counting<float>(6);
  changed.back() = 0;
  put(folder_ / "c.npy", npy("<f4", "(3, 2)", bytes_of(changed)));
  EXPECT_NE(opened("npy", one("c.npy", "float32", {2}))->fingerprint(), print);
  put(folder_ / "f.npy", npy("<f4", "(3, 2)", bytes_of(counting<float>(6)), true));
  EXPECT_NE(opened("npy", one("f.npy", "float32", {2}))->fingerprint(), print);
  put(folder_ / "s/1.npy", npy("<f4", "(2,)", bytes_of<float>({1, 2})));
  put(folder_ / "s/2.npy", npy("<f4", "(2,)", bytes_of<float>({3, 4})));
  const std::string folder_print = opened("npy", one("s", "float32", {2}))->fingerprint();
  put(folder_ / "s/2.npy", npy("<f4", "(2,)", bytes_of<float>({3, 5})));
  EXPECT_NE(opened("npy", one("s", "float32", {2}))->fingerprint(), folder_print);
}

TEST_F(Npy, SaysBothWhereTypeOrShapeDiffer) {
  put(folder_ / "x.npy", npy("<f8", "(4, 28, 28)", std::string(4 * 28 * 28 * 8, '\0')));
  expect_error(refused("npy", one("x.npy", "float32", {28, 28})), ErrorCode::kData, "/fields/0/dtype",
               {path("x.npy"), "float64[28, 28]", "float32[28, 28]"});
  expect_error(refused("npy", one("x.npy", "float64", {1, 28, 28})), ErrorCode::kData, "/fields/0/shape",
               {"float64[28, 28]", "float64[1, 28, 28]"});
  put(folder_ / "s/1.npy", npy("<f8", "(2,)", std::string(16, '\0')));
  put(folder_ / "s/2.npy", npy("<f8", "(3,)", std::string(24, '\0')));
  expect_error(refused("npy", one("s", "float64", {2})), ErrorCode::kData, "/fields/0/shape",
               {"2.npy", "float64[3]", "float64[2]"});
}

TEST_F(Npy, RefusesWhatCannotBeRead) {
  const std::string data(16, '\0');
  const auto says = [&](const std::string& content, const std::vector<std::string>& parts) {
    expect_error(error_with(content), ErrorCode::kData, "/fields/0/path", parts);
  };
  says("", {path("wrong.npy"), "is empty"});
  says("PK\3\4 an npz archive", {"is no .npy file"});
  says(npy("|O", "(2, 2)", data), {"pickled Python objects"});
  says(npy(">f4", "(2, 2)", data), {"big-endian", "'>f4'", "newbyteorder"});
  says(npy("<c8", "(2, 1)", data), {"'<c8'", "astype"});
  says(npy("<u4", "(2, 2)", data), {"'<u4'"});
  says(npy("<U2", "(2,)", data), {"'<U2'"});
  says(header("{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': (2,), }", 1) + data,
       {"structured array [('a', '<f4'), ('b', '<f4')]"});
  says(npy("<f4", "()", std::string(4, '\0')), {"single number"});
  says(npy("<f4", "(0, 2)", ""), {"holds no samples"});
  says(npy("<f4", "(2, 2)", data, false, '\4'), {"format 4.0", "1.0, 2.0 and 3.0"});
}

TEST_F(Npy, SaysHowManyBytesAreMissingOrTooMany) {
  const std::string whole = npy("<f4", "(2, 2)", std::string(16, '\0'));
  const std::string length = std::to_string(whole.size());
  expect_error(error_with(whole.substr(0, whole.size() - 3)), ErrorCode::kData, "/fields/0/path",
               {"is cut off", "float32[2, 2] takes " + length, "has " + std::to_string(whole.size() - 3)});
  expect_error(error_with(whole + "more"), ErrorCode::kData, "/fields/0/path", {"is too long", "takes " + length});
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const Error error = error_with(whole.substr(0, cut));
    EXPECT_EQ(error.code(), ErrorCode::kData) << cut;
    EXPECT_NE(std::string(error.what()).find("wrong.npy: is "), std::string::npos) << error.what();
  }
  expect_error(error_with(npy("<f4", "(4611686018427387904, 4611686018427387904)", "")), ErrorCode::kData,
               "/fields/0/path", {"too large"});
}

TEST_F(Npy, CallsADamagedHeaderDamaged) {
  for (const char* const dictionary :
       {"", "nonsense", "{", "{'descr': '<f4'", "{'descr': '<f4', 'fortran_order': False, }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 4}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "{'descr': '",
        "{'descr': '', 'fortran_order': False, 'shape': (2, 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2"}) {
    expect_error(error_with(header(dictionary, 1) + std::string(16, '\0')), ErrorCode::kData, "/fields/0/path",
                 {"its header is damaged"});
  }
}

TEST_F(Npy, RefusesFilesThatAreNotThere) {
  expect_error(refused("npy", one("none.npy", "float32", {2})), ErrorCode::kData, "/fields/0/path",
               {path("none.npy"), "No such file"});
  std::filesystem::create_directory(folder_ / "empty");
  expect_error(refused("npy", one("empty", "float32", {2})), ErrorCode::kData, "/fields/0/path",
               {"no file that ends with .npy"});
}

TEST_F(Npy, RefusesParametersThatContradictThemselves) {
  Json params = one("x.npy", "float32", {2});
  params["fields"].push_back(params["fields"][0]);
  expect_error(error_of([&] { (void)made("npy", params); }), ErrorCode::kConfig, "/fields/1/name", {"\"x\""});
  expect_error(error_of([&] {
                 (void)made("npy", one("x.npy", "float32", {int64_t{1} << 40, int64_t{1} << 40}));
               }),
               ErrorCode::kConfig, "/fields/0/shape", {"2^63"});
  EXPECT_EQ(error_of([&] { (void)made("npy", {{"fields", Json::array()}}); }).pointer(), "/fields");
}

}  // namespace
}  // namespace tenon::test
