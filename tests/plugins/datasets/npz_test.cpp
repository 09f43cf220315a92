// dataset:npz: archives as numpy writes them, stored and deflated, and archives that are wrong.
#include <string_view>

#include <plugins/datasets/packed.hpp>
#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

std::string number(uint64_t value, int bytes) {
  std::string text;
  for (; bytes > 0; --bytes, value >>= 8U) text += static_cast<char>(value & 0xFFU);
  return text;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + data;
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

/// What zlib's level 9 makes of the array x of float32 and of the array of labels below.
constexpr std::string_view kDeflatedX =
    "9bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a4"
    "02f91ac63a0a469a3a0ab50a64032e0686067b060606072002e206205e00c4071c00";
constexpr std::string_view kDeflatedLabels =
    "9bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a4"
    "02f91ac63a9a3a0ab50a14002e760608e080d29c501a00";

/// Writes archives by the specification of the format.
class Archive {
 public:
  /// A file whose bytes are stored as they are, though perhaps said to be packed by another method.
  void add(const std::string& name, const std::string& data, int method = 0, bool zip64 = false, int flags = 0) {
    add_packed(name, data, data, method, zip64, flags);
  }

  /// `method`: 0 stored, 8 deflated. `zip64`: numbers stand in the extra field.
  void add_packed(const std::string& name, const std::string& data, const std::string& packed, int method, bool zip64,
                  int flags = 0) {
    const uint32_t crc = checksum(data);
    const std::string common = number(45, 2) + number(static_cast<uint64_t>(flags), 2) +
                               number(static_cast<uint64_t>(method), 2) + number(0, 4) + number(crc, 4);
    const std::string sizes =
        zip64 ? number(0xFFFFFFFF, 4) + number(0xFFFFFFFF, 4) : number(packed.size(), 4) + number(data.size(), 4);
    const std::string local_extra =
        zip64 ? number(1, 2) + number(16, 2) + number(data.size(), 8) + number(packed.size(), 8) : std::string();
    const std::string central_extra = zip64 ? number(9, 2) + number(2, 2) + "ab" + number(1, 2) + number(24, 2) +
                                                  number(data.size(), 8) + number(packed.size(), 8) +
                                                  number(body_.size(), 8)
                                            : std::string();
    central_ += "PK\1\2" + number(45, 2) + common + sizes + number(name.size(), 2) + number(central_extra.size(), 2) +
                number(0, 10) + number(zip64 ? 0xFFFFFFFF : body_.size(), 4) + name + central_extra;
    body_ += "PK\3\4" + common + sizes + number(name.size(), 2) + number(local_extra.size(), 2) + name + local_extra +
             packed;
    ++count_;
    zip64_ = zip64_ || zip64;
  }

  [[nodiscard]] std::string text(const std::string& comment = "") const {
    std::string end;
    if (zip64_) {
      end = "PK\6\6" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) + number(count_, 8) +
            number(count_, 8) + number(central_.size(), 8) + number(body_.size(), 8) + "PK\6\7" + number(0, 4) +
            number(body_.size() + central_.size(), 8) + number(1, 4);
    }
    const uint64_t count = zip64_ ? 0xFFFF : count_;
    end += "PK\5\6" + number(0, 4) + number(count, 2) + number(count, 2) + number(central_.size(), 4) +
           number(zip64_ ? 0xFFFFFFFF : body_.size(), 4) + number(comment.size(), 2) + comment;
    return body_ + central_ + end;
  }

 private:
  std::string body_;
  std::string central_;
  uint64_t count_ = 0;
  bool zip64_ = false;
};

class Npz : public testing::Test {
 protected:
  [[nodiscard]] Json params() const {
    return {{"path", path_},
            {"fields",
             {{{"name", "x"}, {"dtype", "float32"}, {"shape", {2}}},
              {{"name", "y"}, {"key", "labels"}, {"dtype", "int64"}, {"shape", Json::array()}}}}};
  }

  static Archive archive(int method = 0, bool zip64 = false) {
    Archive made;
    const std::string x = npy("<f4", "(3, 2)", bytes_of<float>({1, 2, 3, 4, 5, 6}));
    const std::string labels = npy("<i8", "(3,)", bytes_of<int64_t>({7, 8, 9}));
    made.add_packed("x.npy", x, method == 8 ? from_hex(kDeflatedX) : x, method, zip64);
    made.add_packed("labels.npy", labels, method == 8 ? from_hex(kDeflatedLabels) : labels, method, zip64);
    return made;
  }

  [[nodiscard]] Error error_with(const std::string& content) const {
    put(path_, content);
    return refused("npz", params());
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.npz";
};

TEST_F(Npz, ReadsStoredAndDeflatedArraysAndZip64) {
  std::string print;
  for (const int method : {0, 8}) {
    for (const bool zip64 : {false, true}) {
      put(path_, archive(method, zip64).text(zip64 ? "PK\5\6 a comment" : ""));
      const auto dataset = opened("npz", params());
      EXPECT_EQ(text_of(dataset->spec()), "x float32[2], y int64[]");
      EXPECT_EQ(column<float>(*dataset, "x"), (std::vector<float>{1, 2, 3, 4, 5, 6}));
      EXPECT_EQ(column<int64_t>(*dataset, "y"), (std::vector<int64_t>{7, 8, 9}));
      expect_column<int64_t>(*dataset, "y");
      if (print.empty()) print = dataset->fingerprint();
      EXPECT_EQ(dataset->fingerprint(), print);
    }
  }
}

TEST_F(Npz, DeflatedArraysAndAlignedStoredOnesCanBeViewed) {
  put(path_, archive(8).text());
  expect_views(*opened("npz", params()));
  Json one = params();
  one["fields"].erase(1);
  for (const int padding : {0, 1, 2, 3}) {  // the header of a member is 30 bytes and its name
    Archive archive;
    archive.add("padding", std::string(static_cast<std::size_t>(padding), ' '));
    archive.add("x.npy", npy("<f4", "(3, 2)", bytes_of<float>({1, 2, 3, 4, 5, 6})));
    put(path_, archive.text());
    const auto dataset = opened("npz", one);
    EXPECT_EQ(column<float>(*dataset, "x"), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    const bool aligned = (30 + 7 + padding + 30 + 5) % 4 == 0;
    EXPECT_EQ(ability<InMemory>(*dataset)->can_view(), aligned) << padding;
    if (aligned) expect_views(*dataset);
  }
}

TEST_F(Npz, NamesArraysThatAreNotThereAndTheNearest) {
  Archive made;
  made.add("x.npy", npy("<f4", "(3, 2)", std::string(24, '\0')));
  made.add("label.npy", npy("<i8", "(3,)", std::string(24, '\0')));
  expect_error(error_with(made.text()), ErrorCode::kData, "/fields/1/key",
               {path_, "no array \"labels\"; did you mean \"label\"?", "\"x\", \"label\""});
}

TEST_F(Npz, NamesTheArrayThatIsNotAsDeclared) {
  Archive made;
  made.add("x.npy", npy("<f8", "(3, 2)", std::string(48, '\0')));
  expect_error(error_with(made.text()), ErrorCode::kData, "/fields/0/dtype", {path_ + ": x:", "float64[2]"});
  Archive uneven;
  uneven.add("x.npy", npy("<f4", "(3, 2)", std::string(24, '\0')));
  uneven.add("labels.npy", npy("<i8", "(4,)", std::string(32, '\0')));
  expect_error(error_with(uneven.text()), ErrorCode::kData, "/fields/1/key", {"labels: holds 4 samples, but", "x 3"});
  Archive no_array;
  no_array.add("x.npy", "text");
  expect_error(error_with(no_array.text()), ErrorCode::kData, "/fields/0/key", {"x: is no .npy file"});
}

TEST_F(Npz, RefusesDamagedArchives) {
  expect_error(error_with(""), ErrorCode::kData, "/path", {"no zip archive"});
  expect_error(error_with("no archive at all, but text"), ErrorCode::kData, "/path", {"no zip archive"});
  const std::string whole = archive().text();
  expect_error(error_with(whole.substr(0, whole.size() - 30)), ErrorCode::kData, "/path", {"is cut off"});
  for (const int method : {0, 8}) {
    std::string damaged = archive(method).text();
    damaged[80] ^= 1;
    expect_error(error_with(damaged), ErrorCode::kData, "/path", {"\"x.npy\" is damaged"});
  }
  Archive locked;
  locked.add("x.npy", "secret", 0, false, 1);
  expect_error(error_with(locked.text()), ErrorCode::kData, "/path", {"is encrypted"});
  Archive bzip;
  bzip.add("x.npy", "BZh", 12);
  expect_error(error_with(bzip.text()), ErrorCode::kData, "/path", {"packed by method 12", "savez"});
}

/// Cut anywhere, an archive is refused or, where nothing was lost that matters, read.
TEST_F(Npz, NoCutOrFlippedByteCrashesIt) {
  for (const int method : {0, 8}) {
    const std::string whole = archive(method, true).text();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string wrong = whole;
      wrong[i] = static_cast<char>(wrong[i] ^ 0x55);
      for (const std::string& content : {wrong, whole.substr(0, i)}) {
        put(path_, content);
        try {
          (void)opened("npz", params());
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kData) << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon::test
