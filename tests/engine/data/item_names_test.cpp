// Names of items in what is told of them.
#include <engine/data/stream.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <core/process/breadcrumb.hpp>
#include <engine/data/fakes.hpp>
#include <engine/data/samples.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/item_names.hpp>

namespace tenon::engine {
namespace {

using fakes::error_of;
using fakes::FakeDataset;
using fakes::node;
using fakes::sample_of;
using std::chrono::milliseconds;

/// Items of files "cats/0.jpg", "cats/1.jpg", …
class Named : public FakeDataset, public ItemNames {
 public:
  using FakeDataset::FakeDataset;
  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == ItemNames::kAbility ? static_cast<ItemNames*>(this) : nullptr;
  }
  [[nodiscard]] std::string item_name(int64_t index) const override {
    if (fails_) throw std::runtime_error("no names");
    return empty_ ? "" : "cats/" + std::to_string(index) + ".jpg";
  }

  bool fails_ = false;
  bool empty_ = false;
};

std::string message_of(const Stream& stream, int64_t item) {
  return error_of(ErrorCode::kData, [&] { (void)sample_of(stream, {item}); });
}

const fakes::FunctionTransform kDirty([](Sample&, Rng&, const When&) {
  throw Error(ErrorCode::kData, "the lens is dirty");
});

TEST(ItemNames, AreToldWithErrorsOfTransforms) {
  const Named dataset(20);
  const Stream stream(node(dataset), {node("dirty", kDirty)}, 7);
  EXPECT_EQ(message_of(stream, 17),
            "\"dirty\" (transform:dirty), sample 17 (cats/17.jpg) of \"train_set\", epoch 0: the lens is dirty");
}

TEST(ItemNames, AreNotToldAgainWhereTheErrorHasThem) {
  Named dataset(20);
  const auto message = [&](const std::string& cause) {
    dataset.before([cause](int64_t) { throw Error(ErrorCode::kData, cause); });
    return message_of(Stream(node(dataset), {}, 7), 1);
  };
  const std::string place = "\"train_set\" (dataset:fake), sample 1";
  EXPECT_EQ(message("cats/1.jpg: is no image"), place + " of \"train_set\", epoch 0: cats/1.jpg: is no image");
  EXPECT_EQ(message("cannot read cats/1.jpg"), place + " of \"train_set\", epoch 0: cannot read cats/1.jpg");
  EXPECT_EQ(message("no image"), place + " (cats/1.jpg) of \"train_set\", epoch 0: no image");
  EXPECT_EQ(message("cats/1.jpg2 differs"), place + " (cats/1.jpg) of \"train_set\", epoch 0: cats/1.jpg2 differs")
      << "another file";
}

TEST(ItemNames, AreToldInPartWhereTheErrorHasTheFileAlone) {
  class Tiles final : public Named {
   public:
    using Named::Named;
    [[nodiscard]] std::string item_name(int64_t index) const override {
      return "roof.png, tile " + std::to_string(index);
    }
  };
  const Tiles dataset(20);
  const Stream stream(node(dataset), {}, 7);
  EXPECT_EQ(stream.describe_sample(3, "roof.png: is no image"), "sample 3 (tile 3)");
  EXPECT_EQ(stream.describe_sample(3, "no image"), "sample 3 (roof.png, tile 3)");
  EXPECT_EQ(stream.describe_sample(3, "roof.png, tile 3: is no image"), "sample 3");
}

TEST(ItemNames, GoWithTheNumberOfASample) {
  EXPECT_EQ(Stream(node(Named(20)), {}, 7).describe_sample(3), "sample 3 (cats/3.jpg)");
  EXPECT_EQ(Stream(node(FakeDataset(20)), {}, 7).describe_sample(3), "sample 3");
}

TEST(ItemNames, AreLeftOutWhereTheDatasetHasNoneOrFails) {
  Named dataset(20);
  const Stream stream(node(dataset), {node("dirty", kDirty)}, 7);
  const std::string plain = "\"dirty\" (transform:dirty), sample 3 of \"train_set\", epoch 0: the lens is dirty";
  dataset.empty_ = true;
  EXPECT_EQ(message_of(stream, 3), plain);
  dataset.empty_ = false;
  dataset.fails_ = true;
  EXPECT_EQ(message_of(stream, 3), plain);
}

TEST(ItemNames, TellWhichFilesDoNotGoIntoOneBatch) {
  class Ragged final : public Named {
   public:
    using Named::Named;
    [[nodiscard]] Spec spec() const override { return {{"image", Dtype::kUint8, {"H"}}}; }
    void read(int64_t index, Sample& out) const override { (void)out.allocate(0, Dtype::kUint8, Shape{index + 1}); }
  };
  const Ragged dataset(4);
  const Stream stream(node(dataset), {}, 7);
  LoaderOptions options;
  options.node = "train";
  options.batch = 2;
  Loader loader(stream, options);
  loader.start(0, 0, 1);
  const std::string message = error_of(ErrorCode::kData, [&] { (void)loader.next(); });
  EXPECT_NE(message.find("sample 1 (cats/1.jpg) has [2], sample 0 (cats/0.jpg), the first of the batch, has [1]"),
            std::string::npos)
      << message;
}

/// A stream that owns what it reads, in memory and with names, and hangs on one item until it is let go.
struct Hanging {
  class Items final : public Named, public InMemory {
   public:
    explicit Items(Hanging& owner) : Named(40), owner_(owner) {}
    [[nodiscard]] void* ability(const char* id) noexcept override {
      return std::string_view(id) == InMemory::kAbility ? static_cast<InMemory*>(this) : Named::ability(id);
    }
    void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
      if (index == 17) owner_.released.wait();
      fields[0] = fields[1] = owner_.bytes;
    }

   private:
    Hanging& owner_;
  };

  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::byte bytes[64]{};
  Items dataset{*this};
  const core::Callee& callee = core::callee("org.test", "1", "/test.so", "dataset:fake", "train_set");
  fakes::FunctionTransform same{[](Sample&, Rng&, const When&) {}};
  std::optional<Stream> stream;
};

TEST(ItemNames, TellWhichItemOfACopiedBatchHangs) {
  for (const bool copied : {true, false}) {
    auto hanging = std::make_shared<Hanging>();
    std::vector<TransformNode> transforms;
    if (!copied) transforms.push_back(node("same", hanging->same));
    hanging->stream.emplace(DatasetNode{"train_set", "dataset:fake", &hanging->dataset, &hanging->callee}, transforms,
                            7);
    EXPECT_EQ(hanging->stream->copies(), copied);
    LoaderOptions options;
    options.node = "train";
    options.batch = 40;
    options.workers = 1;
    options.sample_timeout = milliseconds(50);
    options.keep = hanging;
    std::promise<void> release = std::move(hanging->release);
    const int before = fakes::threads_of_process();
    {
      Loader loader(*hanging->stream, options);
      loader.start(0, 0, 1);
      const std::string message = error_of(ErrorCode::kData, [&] { (void)loader.next(); });
      EXPECT_TRUE(
          message.starts_with("\"train_set\" (dataset:fake), sample 17 (cats/17.jpg) of \"train_set\": it has "
                              "been under way for more than 0.05 s"))
          << message;
    }
    release.set_value();
    EXPECT_TRUE(fakes::threads_become(before)) << "or the thread that was given up is counted by the next test";
  }
}

}  // namespace
}  // namespace tenon::engine
