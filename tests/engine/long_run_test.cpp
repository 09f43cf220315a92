// A long run takes no more of the machine than a short one: memory and descriptors over many epochs, with all that
// belongs to an epoch.
#include <fstream>
#include <string>
#include <vector>

#include <engine/pipeline_fixture.hpp>
#include <process_use.hpp>

namespace tenon::engine {
namespace {

using test::descriptors;
using test::resident;

constexpr const char* kImages = R"({
  "format": 1,
  "name": "images",
  "run": { "seed": 3, "device": "cpu", "threads": 1 },
  "nodes": {
    "files": { "use": "dataset:image_folder", "with": { "path": "." } },
    "crop": { "use": "transform:random_resized_crop", "in": "files", "with": { "height": 24, "width": 24 } },
    "turn": { "use": "transform:random_rotation", "in": "crop", "with": { "degrees": [20] } },
    "x": { "use": "transform:normalize_image", "in": "turn", "with": { "mean": [0.5], "std": [0.25] } },
    "train": { "use": "loader:threads", "in": "x",
               "with": { "batch": 4, "shuffle": true, "workers": 2, "bad_sample": { "policy": "skip", "max": 1000 } } },
    "net": { "use": "model:mlp", "in": { "image": "batch.image" }, "with": { "classes": 2, "hidden": [4] } },
    "loss": { "use": "loss:cross_entropy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "opt": { "use": "optimizer:adamw", "of": "net" }
  },
  "fit": { "data": "train", "loss": "loss", "epochs": 2 },
  "checkpoint": { "every": "1 epoch" },
  "observe": []
})";

class LongRun : public PipelineTest {
 protected:
  /// What the process holds after a run of so many epochs.
  struct Use {
    int64_t memory;
    int descriptors;
  };

  Use after(int epochs, const std::string& pipeline, std::vector<std::string> sets = {}) {
    sets.push_back("fit.epochs=" + std::to_string(epochs));
    std::filesystem::remove_all(runs_);
    const RunOutcome outcome = run(pipeline, std::move(sets));
    EXPECT_EQ(outcome.epochs, epochs);
    return {resident(), descriptors()};
  }

  /// A short run fills what stays for the process: 100 kB that each further epoch left behind would be seen.
  void expect_flat(const std::string& pipeline, const std::vector<std::string>& sets = {}) {
    static_cast<void>(after(10, pipeline, sets));
    const Use before = after(10, pipeline, sets);
    const Use use = after(70, pipeline, sets);
    EXPECT_LT(use.memory - before.memory, 6'000'000);
    EXPECT_EQ(use.descriptors, before.descriptors);
  }
};

TEST_F(LongRun, WithValidationsAndCheckpointsTakesNoMoreThanAShortOne) {
  expect_flat(kSmallPipeline, {"nodes.train.with.workers=2"});
}

TEST_F(LongRun, OverImagesOfWhichOneIsDamagedTakesNoMoreThanAShortOne) {
  const std::filesystem::path images = folder_ / "images";
  runs_ = folder_ / "runs";
  for (int index = 0; index < 24; ++index) {
    const std::filesystem::path file = images / (index < 12 ? "a" : "b") / (std::to_string(index) + ".ppm");
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out << "P6 64 48 255\n" << std::string(index == 5 ? 100 : 64 * 48 * 3, static_cast<char>('a' + index));
  }
  expect_flat(kImages, {"nodes.files.with.path=\"" + images.string() + "\""});
}

}  // namespace
}  // namespace tenon::engine
