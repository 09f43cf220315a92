// Columns of all items, from an index or by reading.
#include <engine/data/scan.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <core/process/breadcrumb.hpp>
#include <engine/data/fakes.hpp>

namespace tenon::engine {
namespace {

using fakes::error_of;
using fakes::FunctionDataset;

constexpr int64_t kItems = 500;

// Item i: weight i / 2; class "c" + (i % 3) as text and 7 - i % 3 as a number; i % 11 tokens.
FunctionDataset table(std::optional<int64_t> bad = {}) {
  return FunctionDataset(kItems,
                         {{"w", Dtype::kFloat32, {}},
                          {"text", Dtype::kUint8, {Dim()}},
                          {"label", Dtype::kInt16, {}},
                          {"tokens", Dtype::kInt32, {"T"}}},
                         [bad](int64_t index, Sample& out) {
                           if (index % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                           if (index == bad) throw std::runtime_error("damaged");
                           out.allocate(0, Dtype::kFloat32, {}).as<float>()[0] = static_cast<float>(index) / 2;
                           const Array text = out.allocate(1, Dtype::kUint8, Shape{2});
                           text.as<uint8_t>()[0] = 'c';
                           text.as<uint8_t>()[1] = static_cast<uint8_t>('0' + index % 3);
                           out.allocate(2, Dtype::kInt16, {}).as<int16_t>()[0] = static_cast<int16_t>(7 - index % 3);
                           const Array tokens = out.allocate(3, Dtype::kInt32, Shape{index % 11});
                           std::memset(tokens.data, 0, tokens.bytes());
                         });
}

class Index final : public Columns {
 public:
  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    return field == "label" || field == "w" ? numbers : std::nullopt;
  }
  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const override {
    return field == "tokens" ? sizes : std::nullopt;
  }
  std::optional<std::vector<double>> numbers;
  std::optional<std::vector<int64_t>> sizes;
};

OrderOptions by(const char* weights, const char* balance, const char* buckets) {
  OrderOptions options;
  options.items = kItems;
  options.node = "train";
  if (weights != nullptr) options.sampler.emplace().weights = weights;
  if (balance != nullptr) options.sampler.emplace().balance = balance;
  if (buckets != nullptr) options.buckets.emplace().field = buckets;
  return options;
}

class Scanning : public testing::TestWithParam<int> {
 protected:
  OrderColumns columns(const FunctionDataset& dataset, const Columns* index, const OrderOptions& options,
                       bool tolerate = false) {
    const Stream stream({"data", "dataset:table", &dataset}, {}, 7);
    ScanOptions scan;
    scan.threads = GetParam();
    scan.tolerate = tolerate;
    scan.remark = [this](const std::string& remark) { remarks_.push_back(remark); };
    return order_columns(stream, index, options, scan);
  }

  std::vector<std::string> remarks_;
};
INSTANTIATE_TEST_SUITE_P(Threads, Scanning, testing::Values(0, 1, 4));

TEST_P(Scanning, ReadsWhatNoIndexKnowsInOneGo) {
  const OrderColumns read = columns(table(), nullptr, by(nullptr, "text", "tokens"));
  ASSERT_EQ(read.classes.size(), static_cast<std::size_t>(kItems));
  ASSERT_EQ(read.lengths.size(), static_cast<std::size_t>(kItems));
  for (int64_t item = 0; item < kItems; ++item) {
    EXPECT_EQ(read.classes[static_cast<std::size_t>(item)], item % 3) << "numbered as they first come";
    EXPECT_EQ(read.lengths[static_cast<std::size_t>(item)], item % 11);
  }
  ASSERT_EQ(remarks_.size(), 1U);
  EXPECT_TRUE(
      remarks_[0].starts_with("loader \"train\" read all 500 samples of \"data\" once for \"text\" and "
                              "\"tokens\", which its index does not know ("))
      << remarks_[0];
}

TEST_P(Scanning, ReadsNumbersOfAnyType) {
  const OrderColumns weights = columns(table(), nullptr, by("w", nullptr, nullptr));
  const OrderColumns labels = columns(table(), nullptr, by("label", nullptr, nullptr));
  for (int64_t item = 0; item < kItems; ++item) {
    EXPECT_EQ(weights.weights[static_cast<std::size_t>(item)], static_cast<double>(item) / 2);
    EXPECT_EQ(labels.weights[static_cast<std::size_t>(item)], static_cast<double>(7 - item % 3));
  }
}

TEST_P(Scanning, AsksTheIndexFirstAndReadsNothingThen) {
  const FunctionDataset dataset(kItems, table().spec(), [](int64_t, Sample&) { throw std::runtime_error("read"); });
  Index index;
  index.numbers.emplace(kItems);
  for (std::size_t i = 0; i < static_cast<std::size_t>(kItems); ++i) (*index.numbers)[i] = i % 2 == 0 ? 40 : 3;
  index.sizes.emplace(kItems, 5);
  const OrderColumns known = columns(dataset, &index, by(nullptr, "label", "tokens"));
  EXPECT_EQ(known.classes[0], 0);
  EXPECT_EQ(known.classes[1], 1);
  EXPECT_EQ(known.classes[498], 0);
  EXPECT_EQ(known.lengths, *index.sizes);
  EXPECT_EQ(columns(dataset, &index, by("w", nullptr, nullptr)).weights, *index.numbers);
  EXPECT_TRUE(remarks_.empty());
}

TEST_P(Scanning, ReadsOnlyWhatTheIndexLacks) {
  Index index;
  index.sizes.emplace(kItems, 5);
  const OrderColumns both = columns(table(), &index, by(nullptr, "label", "tokens"));
  EXPECT_EQ(both.lengths, *index.sizes);
  EXPECT_EQ(both.classes[2], 2);
  ASSERT_EQ(remarks_.size(), 1U);
  EXPECT_NE(remarks_[0].find("once for \"label\", which"), std::string::npos) << remarks_[0];
}

TEST_P(Scanning, AnItemThatCannotBeReadIsNamedOrLeftOut) {
  EXPECT_EQ(error_of(ErrorCode::kData, [&] { (void)columns(table(77), nullptr, by("w", nullptr, "tokens")); }),
            "\"data\" (dataset:table), sample 77 of \"data\", epoch 0: damaged");
  OrderColumns columns_without = columns(table(77), nullptr, by("w", nullptr, "tokens"), true);
  EXPECT_EQ(columns_without.weights[77], 0);
  EXPECT_EQ(columns_without.weights[78], 39);
  EXPECT_EQ(columns_without.lengths[77], 0);
  EXPECT_NE(remarks_.at(0).find("; 1 of them cannot be read)"), std::string::npos) << remarks_[0];
  columns_without = columns(table(0), nullptr, by(nullptr, "label", nullptr), true);
  EXPECT_EQ(columns_without.classes[0], -1);
  EXPECT_EQ(columns_without.classes[1], 0);
}

TEST_P(Scanning, RefusesFieldsAndColumnsThatDoNotFit) {
  const auto pointer_of = [&](const OrderOptions& options) {
    try {
      (void)columns(table(), nullptr, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kConfig);
      return error.pointer();
    }
    return std::string("no error");
  };
  EXPECT_EQ(pointer_of(by("weight", nullptr, nullptr)), "/sampler/weights");
  EXPECT_EQ(pointer_of(by("tokens", nullptr, nullptr)), "/sampler/weights");
  EXPECT_EQ(pointer_of(by(nullptr, "w", nullptr)), "/sampler/balance");
  EXPECT_EQ(pointer_of(by(nullptr, nullptr, "label")), "/buckets/field");
  Index index;
  index.numbers.emplace(3);
  EXPECT_EQ(error_of(ErrorCode::kPlugin, [&] { (void)columns(table(), &index, by("w", nullptr, nullptr)); }),
            "\"data\": its index has 3 values of \"w\", but it has 500 items");
}

TEST_P(Scanning, EndsWhenThePollSaysSo) {
  const FunctionDataset slow(kItems, {{"w", Dtype::kFloat32, {}}}, [](int64_t, Sample& out) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    out.allocate(0, Dtype::kFloat32, {}).as<float>()[0] = 1;
  });
  const Stream stream({"data", "dataset:slow", &slow}, {}, 7);
  ScanOptions scan;
  scan.threads = GetParam();
  scan.poll = [] { throw std::runtime_error("stopped"); };
  EXPECT_THROW((void)order_columns(stream, nullptr, by("w", nullptr, nullptr), scan), std::runtime_error);
}

/// A stream that owns its dataset, which hangs on one item until it is let go.
struct Hanging {
  explicit Hanging(int64_t hung)
      : dataset(kItems, {{"w", Dtype::kFloat32, {}}},
                [this, hung, released = release.get_future().share()](int64_t index, Sample& out) {
                  if (index == hung) {
                    reached = true;
                    released.wait();
                  }
                  out.allocate(0, Dtype::kFloat32, {}).as<float>()[0] = 1;
                }) {}

  std::promise<void> release;
  std::atomic<bool> reached = false;
  FunctionDataset dataset;
  const core::Callee& callee = core::callee("org.test", "1", "/test.so", "dataset:slow", "data");
  std::optional<Stream> stream;
};

class HangingScan : public testing::TestWithParam<int> {
 protected:
  HangingScan() : hanging_(std::make_shared<Hanging>(317)), watched_(hanging_), release_(&hanging_->release) {
    hanging_->stream.emplace(DatasetNode{"data", "dataset:slow", &hanging_->dataset, &hanging_->callee},
                             std::vector<TransformNode>{}, 7);
    scan_.threads = GetParam();
    scan_.keep = hanging_;
    scan_.give_up = [this] { ++given_up_; };
  }

  void read() { (void)order_columns(*hanging_->stream, nullptr, by("w", nullptr, nullptr), scan_); }

  /// Nothing but the thread that hangs holds on to what it reads, and that not for longer than it hangs.
  void expect_the_thread_to_keep_its_data() {
    EXPECT_EQ(given_up_, 1);
    scan_.keep.reset();
    hanging_.reset();
    EXPECT_FALSE(watched_.expired());
    release_->set_value();
    EXPECT_TRUE(fakes::threads_become(threads_));
    EXPECT_TRUE(watched_.expired());
  }

  int threads_ = fakes::threads_of_process();
  std::shared_ptr<Hanging> hanging_;
  std::weak_ptr<Hanging> watched_;
  std::promise<void>* release_;
  ScanOptions scan_;
  int given_up_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Threads, HangingScan, testing::Values(1, 4));

TEST_P(HangingScan, NamesTheItemThatTakesTooLong) {
  scan_.sample_timeout = std::chrono::milliseconds(500);
  EXPECT_EQ(error_of(ErrorCode::kData, [&] { read(); }),
            "\"data\" (dataset:slow), sample 317 of \"data\": it has been under way for more than 0.5 s, the loader's "
            "\"sample_timeout\"; look at that sample and at what it is read from, or allow more time");
  expect_the_thread_to_keep_its_data();
}

TEST_P(HangingScan, EndsSoonWhenThePollSaysSo) {
  std::chrono::steady_clock::time_point asked;
  scan_.poll = [&] {
    if (!hanging_->reached) return;
    asked = std::chrono::steady_clock::now();
    throw std::runtime_error("stopped");
  };
  EXPECT_THROW(read(), std::runtime_error);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(5)) << "it hangs for ever";
  expect_the_thread_to_keep_its_data();
}

}  // namespace
}  // namespace tenon::engine
