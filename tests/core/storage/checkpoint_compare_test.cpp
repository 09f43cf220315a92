// Two checkpoints: equal to the byte, or what differs.
#include <core/storage/checkpoint_compare.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/checkpoint_files.hpp>
#include <core/storage/safetensors.hpp>
#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

/// What a small checkpoint holds.
struct Content {
  std::vector<float> weight{0.5F, 0.25F, 0, 1};
  std::vector<int64_t> counts{3, 4};
  Shape weight_shape{2, 2};
  Metadata aliases;
  Json state{{"training", {{"step", 7}}}};
  bool optimizer = true;
};

fs::path write(const fs::path& folder, Content content) {
  CheckpointWriter writer(folder, 7);
  const Shape pair{2};
  const std::vector<NamedArray> model{{"net.weight", {content.weight.data(), Dtype::kFloat32, content.weight_shape}}};
  writer.add_tensors("model.net", model, content.aliases);
  const std::vector<NamedArray> counts{{"counts", {content.counts.data(), Dtype::kInt64, pair}}};
  if (content.optimizer) writer.add_tensors("optimizer.opt", counts);
  writer.add_tensors("state.training", counts);
  writer.add_json("state", content.state);
  return writer.commit();
}

class CompareTest : public ::testing::Test {
 protected:
  Comparison compare(const Content& a, const Content& b) {
    fs::remove_all(folder_ / "a");
    fs::remove_all(folder_ / "b");
    return compare_checkpoints(write(folder_ / "a", a), write(folder_ / "b", b));
  }

  TemporaryFolder folder_;
};

/// "file entry: what" of each difference; those of manifest.json, which follow from the others, by name alone.
std::vector<std::string> facts(const Comparison& comparison) {
  std::vector<std::string> out;
  for (const CheckpointDifference& each : comparison.differences) {
    const bool manifest = each.file == "manifest.json";
    if (manifest && !out.empty() && out.back() == each.file) continue;
    out.push_back(manifest ? each.file : each.file + " " + each.entry + ": " + each.what);
  }
  return out;
}

using Facts = std::vector<std::string>;

TEST_F(CompareTest, equal_checkpoints_have_no_difference_and_are_counted) {
  const Comparison comparison = compare({}, {});
  EXPECT_TRUE(comparison.equal());
  EXPECT_EQ(comparison.files, 5U);
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "a/step-000007")) bytes += entry.file_size();
  EXPECT_EQ(comparison.bytes, bytes);
}

TEST_F(CompareTest, elements_that_differ_are_counted_and_the_first_is_shown) {
  Content other;
  other.weight = {0.5F, 0.25F, 0.5F, 1.5F};
  const Comparison comparison = compare({}, other);
  EXPECT_EQ(
      facts(comparison),
      (Facts{"model.net.safetensors net.weight: 2 of 4 elements differ, first at [1, 0]: 0 and 0.5, by at most 0.5",
             "manifest.json"}));
  EXPECT_EQ(comparison.differences[0].max_abs, 0.5);
  EXPECT_FALSE(comparison.equal());
}

TEST_F(CompareTest, bits_count_not_values) {
  Content other;
  other.weight[2] = -0.0F;
  EXPECT_EQ(facts(compare({}, other))[0],
            "model.net.safetensors net.weight: 1 of 4 elements differ, first at [1, 0]: 0 and -0, by at most 0");
}

TEST_F(CompareTest, what_is_not_finite_is_infinitely_far_from_what_is) {
  Content nan;
  nan.weight[0] = std::nanf("");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(compare({}, nan).differences[0].max_abs, infinity);
  Content huge;
  huge.weight[0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare(nan, huge).differences[0].max_abs, infinity);
}

TEST_F(CompareTest, goes_by_models_optimizers_state_and_manifest) {
  Content other;
  other.weight[0] = 9;
  other.counts[1] = 5;
  other.state = {{"training", {{"step", 8}, {"epoch", 1}}}};
  const Comparison comparison = compare({}, other);
  EXPECT_EQ(
      facts(comparison),
      (Facts{"model.net.safetensors net.weight: 1 of 4 elements differ, first at [0, 0]: 0.5 and 9, by at most 8.5",
             "optimizer.opt.safetensors counts: 1 of 2 elements differ, first at [1]: 4 and 5, by at most 1",
             "state.training.safetensors counts: 1 of 2 elements differ, first at [1]: 4 and 5, by at most 1",
             "state.json /training/epoch: missing in A", "state.json /training/step: 7 and 8", "manifest.json"}));
  EXPECT_EQ(comparison.differences[4].max_abs, 1);
}

TEST_F(CompareTest, shapes_names_and_aliases_differ_by_name) {
  Content other;
  other.weight_shape = {4};
  EXPECT_EQ(facts(compare({}, other))[0], "model.net.safetensors net.weight: float32[2, 2] and float32[4]");
  Content tied;
  tied.aliases = {{"net.tied", "net.weight"}};
  EXPECT_EQ(facts(compare({}, tied))[0], "model.net.safetensors __metadata__/net.tied: missing in A");
  Content elsewhere;
  elsewhere.aliases = {{"net.tied", "net.other"}};
  EXPECT_EQ(facts(compare(elsewhere, tied))[0],
            "model.net.safetensors __metadata__/net.tied: \"net.other\" and \"net.weight\"");
}

TEST_F(CompareTest, files_that_only_one_has_are_named) {
  Content without;
  without.optimizer = false;
  EXPECT_EQ(facts(compare({}, without))[0], "optimizer.opt.safetensors : missing in B");
  const Comparison turned = compare_checkpoints(folder_ / "b/step-000007", folder_ / "a/step-000007");
  EXPECT_EQ(facts(turned)[0], "optimizer.opt.safetensors : missing in A");
  EXPECT_EQ(turned.files, 4U);
}

TEST_F(CompareTest, a_tensor_that_only_one_has_is_named) {
  (void)compare({}, {});
  float value = 1;
  const Shape none;
  write_safetensors(folder_ / "b/step-000007/model.net.safetensors",
                    std::vector<NamedArray>{{"net.bias", {&value, Dtype::kFloat32, none}}});
  EXPECT_EQ(facts(compare_checkpoints(folder_ / "a/step-000007", folder_ / "b/step-000007")),
            (Facts{"model.net.safetensors net.bias: missing in A", "model.net.safetensors net.weight: missing in B"}));
}

TEST_F(CompareTest, equal_content_in_other_bytes_is_a_difference) {
  (void)compare({}, {});
  put(folder_ / "b/step-000007/state.json", R"({"training":{"step":7}})");
  EXPECT_EQ(facts(compare_checkpoints(folder_ / "a/step-000007", folder_ / "b/step-000007")),
            Facts{"state.json : bytes differ, content is equal"});
}

TEST_F(CompareTest, damaged_files_are_differences_that_say_so) {
  (void)compare({}, {});
  const fs::path b = folder_ / "b/step-000007";
  put(b / "state.json", "{");
  std::string cut = content_of(b / "model.net.safetensors");
  cut.pop_back();
  put(b / "model.net.safetensors", cut);
  put(folder_ / "a/step-000007/note", "one");
  put(b / "note", "two");
  fs::create_directories(folder_ / "a/step-000007/x");
  fs::create_directories(b / "x");
  fs::remove(b / "manifest.json");
  const Facts found = facts(compare_checkpoints(folder_ / "a/step-000007", b));
  ASSERT_EQ(found.size(), 5U);
  EXPECT_TRUE(found[0].starts_with("model.net.safetensors : " + (b / "model.net.safetensors").string())) << found[0];
  EXPECT_EQ(found[1], "note : bytes differ, first at byte 0");
  EXPECT_TRUE(found[2].find("x: it is a folder") != std::string::npos) << found[2];
  EXPECT_TRUE(found[3].find("state.json is damaged") != std::string::npos) << found[3];
  EXPECT_EQ(found[4], "manifest.json");
}

TEST_F(CompareTest, a_flipped_byte_anywhere_is_found) {
  (void)compare({}, {});
  const fs::path a = folder_ / "a/step-000007";
  const fs::path b = folder_ / "b/step-000007";
  for (const auto& entry : fs::directory_iterator(a)) {
    const std::string name = entry.path().filename();
    const std::string whole = content_of(a / name);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string flipped = whole;
      flipped[i] ^= 4;
      put(b / name, flipped);
      const Comparison comparison = compare_checkpoints(a, b);
      ASSERT_FALSE(comparison.equal()) << name << " byte " << i;
      ASSERT_EQ(comparison.differences[0].file, name);
    }
    put(b / name, whole);
  }
}

TEST_F(CompareTest, a_folder_that_is_not_there_is_an_error) {
  const fs::path a = write(folder_ / "a", {});
  EXPECT_THROW((void)compare_checkpoints(a, folder_ / "none"), Error);
  EXPECT_THROW((void)compare_checkpoints(folder_ / "none", a), Error);
}

TEST(CheckFiles, goes_on_behind_a_damaged_file) {
  const TemporaryFolder folder;
  const fs::path path = write(folder.path(), {});
  for (const CheckedFile& file : check_files(path)) EXPECT_EQ(file.problem, "") << file.listed.name;
  std::string text = content_of(path / "optimizer.opt.safetensors");
  text.back() ^= 1;
  put(path / "optimizer.opt.safetensors", text);
  put(path / "state.json", "{}");
  fs::remove(path / "state.training.safetensors");
  const std::vector<CheckedFile> files = check_files(path);
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[0].listed.name, "model.net.safetensors");
  EXPECT_EQ(files[0].problem, "");
  EXPECT_EQ(files[0].listed.sha256.size(), 64U);
  EXPECT_EQ(files[1].problem, "its content is not what the manifest says");
  EXPECT_EQ(files[2].listed.name, "state.json");
  EXPECT_TRUE(files[2].problem.starts_with("it has 2 bytes, the manifest says ")) << files[2].problem;
  EXPECT_EQ(files[3].problem, "No such file or directory");
}

TEST(CheckFiles, a_manifest_that_cannot_be_understood_is_an_error) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)check_files(folder.path()), Error);
  for (const char* const text : {"{", "{}", R"({"files":[{"name":"a"}]})", R"({"files":3})",
                                 R"({"files":[{"name":"../a","bytes":1,"sha256":"x"}]})"}) {
    put(folder / "manifest.json", text);
    EXPECT_THROW((void)check_files(folder.path()), Error) << text;
  }
}

}  // namespace
}  // namespace tenon::core
