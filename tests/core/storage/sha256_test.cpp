// SHA-256 against the vectors of FIPS 180-4.
#include <core/storage/sha256.hpp>

#include <gtest/gtest.h>

#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, gives_the_published_vectors) {
  EXPECT_EQ(sha256(""), kEmpty);
  EXPECT_EQ(sha256("abc"), kAbc);
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, does_not_depend_on_the_pieces_and_starts_afresh) {
  Sha256 hash;
  hash.update("a");
  hash.update("");
  hash.update("bc");
  EXPECT_EQ(hash.digest(), kAbc);
  EXPECT_EQ(hash.digest(), kEmpty);
}

TEST(Sha256, of_a_file_equals_that_of_its_content) {
  const TemporaryFolder folder;
  const std::string content((size_t{1} << 20) + 17, 'x');  // more than one piece
  put(folder / "big", content);
  EXPECT_EQ(sha256_file(folder / "big"), sha256(content));
  EXPECT_THROW((void)sha256_file(folder / "missing"), Error);
  EXPECT_THROW((void)sha256_file(folder.path()), Error);
}

}  // namespace
}  // namespace tenon::core
