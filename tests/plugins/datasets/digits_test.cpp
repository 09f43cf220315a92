// dataset:digits: numbers of the published data, the split, and reading from many threads.
#include <numeric>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {
namespace {

struct Item {
  std::vector<uint8_t> image;
  int64_t label = 0;
  friend bool operator==(const Item&, const Item&) = default;
};

Made<Dataset> digits(const std::string& split) {
  auto dataset = make<Dataset>("tenon_datasets", "digits", R"({"split": ")" + split + R"("})");
  dataset->open({});
  return dataset;
}

Item read(const Dataset& dataset, int64_t index) {
  MemorySample sample(dataset.spec());
  dataset.read(index, sample);
  return {sample.written<uint8_t>("image"), sample.written<int64_t>("label").at(0)};
}

TEST(Digits, SaysItsFieldsBeforeItIsOpened) {
  const auto dataset = make<Dataset>("tenon_datasets", "digits", R"({"split": "val"})");
  const Spec spec = dataset->spec();
  ASSERT_EQ(spec.size(), 2U);
  EXPECT_EQ(spec[0].name + " " + to_string(spec[0]), "image uint8[1, 8, 8]");
  EXPECT_EQ(spec[1].name + " " + to_string(spec[1]), "label int64[]");
}

TEST(Digits, HoldsThePublishedData) {
  const auto all = digits("all");
  ASSERT_EQ(all->size(), 1797);
  const Item first = read(*all, 0);
  EXPECT_EQ(first.label, 0);
  EXPECT_EQ(std::vector<uint8_t>(first.image.begin(), first.image.begin() + 16),
            (std::vector<uint8_t>{0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13, 15, 10, 15, 5, 0}));
  int64_t total = 0;
  uint8_t highest = 0;
  std::vector<int64_t> labels(10);
  for (int64_t i = 0; i < all->size(); ++i) {
    const Item item = read(*all, i);
    total = std::accumulate(item.image.begin(), item.image.end(), total);
    highest = std::max(highest, *std::max_element(item.image.begin(), item.image.end()));
    ++labels.at(static_cast<std::size_t>(item.label));
  }
  EXPECT_EQ(total, 561718);  // sklearn.datasets.load_digits().data.sum()
  EXPECT_EQ(highest, 16);
  EXPECT_EQ(labels, (std::vector<int64_t>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
}

TEST(Digits, SplitsByTheIndexModuloFive) {
  const auto all = digits("all");
  const auto test = digits("test");
  const auto val = digits("val");
  const auto train = digits("train");
  EXPECT_EQ(test->size(), 360);
  EXPECT_EQ(val->size(), 360);
  EXPECT_EQ(train->size(), 1077);
  int64_t next_train = 0;
  for (int64_t i = 0; i < all->size(); ++i) {
    const Item item = i % 5 == 0 ? read(*test, i / 5) : i % 5 == 1 ? read(*val, i / 5) : read(*train, next_train++);
    ASSERT_EQ(item, read(*all, i)) << i;
  }
}

TEST(Digits, FingerprintTellsSplitsApartAndNothingElse) {
  std::set<std::string> prints;
  for (const char* const split : {"train", "val", "test", "all"}) {
    prints.insert(digits(split)->fingerprint());
    EXPECT_EQ(digits(split)->fingerprint(), digits(split)->fingerprint());
  }
  EXPECT_EQ(prints.size(), 4U);
}

TEST(Digits, ReadsTheSameFromManyThreads) {
  const auto all = digits("all");
  std::vector<Item> expected;
  for (int64_t i = 0; i < all->size(); ++i) expected.push_back(read(*all, i));
  std::vector<int64_t> wrong(4);
  std::vector<std::thread> threads;
  threads.reserve(wrong.size());
  for (int64_t& count : wrong) {
    threads.emplace_back([&] {
      for (int64_t i = 0; i < all->size(); ++i) {
        count += read(*all, i) == expected[static_cast<std::size_t>(i)] ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::vector<int64_t>{0, 0, 0, 0}));
}

TEST(Digits, RefusesAnUnknownSplitAndInputs) {
  const Error unknown = error_of([] { (void)make<Dataset>("tenon_datasets", "digits", R"({"split": "tst"})"); });
  EXPECT_EQ(unknown.code(), ErrorCode::kConfig);
  EXPECT_EQ(unknown.pointer(), "/split");
  const auto dataset = make<Dataset>("tenon_datasets", "digits");
  const auto input = digits("all");
  Dataset* const inputs[] = {input.get()};
  EXPECT_EQ(error_of([&] { dataset->open(inputs); }).code(), ErrorCode::kConfig);
}

}  // namespace
}  // namespace tenon::test
