// Checkpoint directories: complete or absent, canonical, and damage is named.
#include <core/storage/checkpoint.hpp>

#include <sys/resource.h>
#include <array>
#include <csignal>

#include <gtest/gtest.h>

#include <core/storage/atomic_file.hpp>
#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

std::filesystem::path write_step(const std::filesystem::path& checkpoints, int64_t step, float value = 1.0F,
                                 bool other_order = false) {
  std::array<float, 4> data{value, 2.0F, 3.0F, 4.0F};
  const Shape shape{2, 2};
  const std::vector<NamedArray> tensors{{"net.weight", {data.data(), Dtype::kFloat32, shape}}};
  CheckpointWriter writer(checkpoints, step);
  if (other_order) {
    writer.add_json("state", {{"seed", 7}, {"epoch", 2}});
    writer.add_tensors("model.net", tensors);
  } else {
    writer.add_tensors("model.net", tensors);
    writer.add_json("state", {{"epoch", 2}, {"seed", 7}});
  }
  return writer.commit();
}

std::string refusal(const std::filesystem::path& path) {
  return message_of<Error>([&] { (void)read_checkpoint(path); });
}

TEST(StepName, round_trips_and_sorts) {
  EXPECT_EQ(step_name(500), "step-000500");
  EXPECT_EQ(step_name(12345678), "step-12345678");
  EXPECT_EQ(step_of("step-000500"), 500);
  EXPECT_EQ(step_of("step-12345678"), 12345678);
  for (const char* name :
       {"step-", "step-12", "step-00050x", "step--00500", ".step-000500", "step-99999999999999999999"}) {
    EXPECT_EQ(step_of(name), std::nullopt) << name;
  }
}

TEST(Checkpoint, gives_back_what_was_written) {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_step(folder / "checkpoints", 500);
  EXPECT_EQ(path, folder / "checkpoints/step-000500");
  const Checkpoint checkpoint = read_checkpoint(path);
  EXPECT_EQ(checkpoint.step(), 500);
  ASSERT_EQ(checkpoint.files().size(), 2U);
  EXPECT_EQ(checkpoint.files()[0].name, "model.net.safetensors");
  EXPECT_EQ(checkpoint.json("state").at("seed"), 7);
  EXPECT_EQ(checkpoint.tensors("model.net").find("net.weight")->array.as<float>()[3], 4.0F);
  const std::string message = message_of<Error>([&] { (void)checkpoint.json("optimizer"); });
  EXPECT_NE(message.find("has no optimizer.json; it has model.net.safetensors, state.json"), std::string::npos)
      << message;
}

TEST(Checkpoint, has_the_same_bytes_for_the_same_content) {
  const TemporaryFolder folder;
  const std::filesystem::path one = write_step(folder / "one", 7);
  const std::filesystem::path other = write_step(folder / "elsewhere/other", 7, 1.0F, true);
  for (const char* file : {"manifest.json", "state.json", "model.net.safetensors"}) {
    EXPECT_EQ(content_of(one / file), content_of(other / file)) << file;
  }
}

TEST(Checkpoint, is_invisible_until_commit_and_leaves_nothing_without) {
  const TemporaryFolder folder;
  {
    CheckpointWriter writer(folder.path(), 1);
    writer.add_json("state", Json::object());
    EXPECT_TRUE(list_checkpoints(folder.path()).empty());
    EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Checkpoint, names_each_damaged_file) {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_step(folder.path(), 3);
  for (const char* file : {"model.net.safetensors", "state.json"}) {
    const std::string whole = content_of(path / file);
    for (size_t place = 0; place < whole.size(); place += 7) {
      std::string flipped = whole;
      flipped[place] = static_cast<char>(flipped[place] ^ 1);
      put(path / file, flipped);
      EXPECT_NE(refusal(path).find(std::string(file) + " does not have the content"), std::string::npos)
          << refusal(path);
    }
    put(path / file, whole.substr(0, whole.size() - 1));
    EXPECT_NE(refusal(path).find(std::string(file) + " has "), std::string::npos) << refusal(path);
    std::filesystem::remove(path / file);
    EXPECT_NE(refusal(path).find(std::string(file) + ": No such file"), std::string::npos) << refusal(path);
    put(path / file, whole);
    EXPECT_EQ(refusal(path), "nothing was thrown");
  }
}

TEST(Checkpoint, refuses_a_manifest_that_is_missing_torn_or_leads_out_of_the_folder) {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_step(folder.path(), 3);
  const std::filesystem::path manifest = path / "manifest.json";
  const std::string whole = content_of(manifest);
  EXPECT_NE(refusal(folder / "step-000009").find("there is no checkpoint"), std::string::npos);
  for (size_t length = 0; length + 2 < whole.size(); ++length) {
    put(manifest, whole.substr(0, length));
    EXPECT_NE(refusal(path).find("manifest.json is damaged"), std::string::npos) << length;
  }
  const auto with = [&](const Json& json) {
    put(manifest, json.dump());
    return refusal(path);
  };
  EXPECT_NE(
      with({{"format", 2}, {"step", 3}, {"files", Json::array()}}).find("has format 2, this Tenon reads format 1"),
      std::string::npos);
  EXPECT_NE(with(Json::array()).find("no number \"format\""), std::string::npos);
  EXPECT_NE(with({{"format", 1}, {"step", 3}}).find("lists no files"), std::string::npos);
  const Json escape = {{"name", "../state.json"}, {"bytes", 1}, {"sha256", ""}};
  EXPECT_NE(with({{"format", 1}, {"step", 3}, {"files", {escape}}}).find("cannot be understood"), std::string::npos);
  EXPECT_NE(with({{"format", 1}, {"step", 3}, {"files", {1, 2}}}).find("without \"name\""), std::string::npos);
  std::filesystem::remove(manifest);
  EXPECT_NE(refusal(path).find("manifest.json: No such file"), std::string::npos) << refusal(path);
}

TEST(Checkpoint, written_again_is_kept_when_equal_and_refused_when_not) {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_step(folder.path(), 3);
  EXPECT_EQ(write_step(folder.path(), 3), path);
  const std::string message = message_of<Error>([&] { (void)write_step(folder.path(), 3, 9.0F); });
  EXPECT_NE(message.find("is there already with other content"), std::string::npos) << message;
  EXPECT_EQ(read_checkpoint(path).tensors("model.net").find("net.weight")->array.as<float>()[0], 1.0F);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Checkpoint, takes_the_place_of_a_damaged_one) {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_step(folder.path(), 3);
  put(path / "state.json", "{}");
  EXPECT_EQ(write_step(folder.path(), 3, 9.0F), path);
  EXPECT_EQ(read_checkpoint(path).tensors("model.net").find("net.weight")->array.as<float>()[0], 9.0F);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Checkpoint, refuses_names_that_are_not_plain_and_files_added_twice) {
  const TemporaryFolder folder;
  CheckpointWriter writer(folder.path(), 3);
  for (const char* name : {"../state", "a/b", "", ".hidden", "manifest", "a b"}) {
    EXPECT_THROW(writer.add_json(name, Json::object()), Error) << name;
  }
  writer.add_json("state", Json::object());
  EXPECT_THROW(writer.add_json("state", Json::object()), Error);
}

TEST(Checkpoint, a_disk_that_fills_up_leaves_the_older_one_and_no_trace) {
  const TemporaryFolder folder;
  (void)write_step(folder.path(), 1);
  // A limit on the size of files stands for the full disk: write() fails in the middle in the same way.
  std::vector<std::byte> big(1 << 20);
  const Shape shape{1 << 20};
  const std::vector<NamedArray> tensors{{"big", {big.data(), Dtype::kUint8, shape}}};
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message;
  {
    CheckpointWriter writer(folder.path(), 2);
    message = message_of<Error>([&] { writer.add_tensors("model.net", tensors); });
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("model.net.safetensors: File too large"), std::string::npos) << message;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  std::vector<std::string> damaged;
  EXPECT_EQ(newest_checkpoint(folder.path(), damaged)->step(), 1);
}

TEST(NewestCheckpoint, falls_back_to_the_newest_sound_one_and_says_so) {
  const TemporaryFolder folder;
  for (const int64_t step : {900, 1000, 1000000, 5}) {
    (void)write_step(folder.path(), step);
  }
  put(folder / "step-notes/x", "");
  put(folder / "index.json", "{}");
  std::vector<int64_t> steps;
  for (const CheckpointPlace& place : list_checkpoints(folder.path())) {
    steps.push_back(place.step);
  }
  EXPECT_EQ(steps, (std::vector<int64_t>{5, 900, 1000, 1000000}));
  std::filesystem::remove(folder / "step-1000000/state.json");
  put(folder / "step-001000/state.json", "{}");
  std::vector<std::string> damaged;
  const std::optional<Checkpoint> newest = newest_checkpoint(folder.path(), damaged);
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->step(), 900);
  ASSERT_EQ(damaged.size(), 2U);
  EXPECT_NE(damaged[0].find("step-1000000 is damaged: state.json"), std::string::npos) << damaged[0];
  damaged.clear();
  EXPECT_FALSE(newest_checkpoint(folder / "none", damaged).has_value());
}

TEST(RemoveTemporaries, removes_checkpoints_that_a_killed_writer_left) {
  const TemporaryFolder folder;
  (void)write_step(folder.path(), 3);
  put(temporary_beside(folder / step_name(4), 0) / "state.json", "half");
  remove_temporaries(folder.path());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(list_checkpoints(folder.path()).size(), 1U);
}

}  // namespace
}  // namespace tenon::core
