// dataset:synthetic: what its numbers are made of, what parts share, and reading from many threads.
#include <cmath>
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
  std::vector<float> x;
  int64_t label = 0;
  std::vector<float> y;
  float weight = 0;
  friend bool operator==(const Item&, const Item&) = default;
};

Made<Dataset> synthetic(const std::string& params) {
  auto dataset = make<Dataset>("tenon_datasets", "synthetic", params);
  dataset->open({});
  return dataset;
}

Item read(const Dataset& dataset, int64_t index) {
  const Spec spec = dataset.spec();
  MemorySample sample(spec);
  dataset.read(index, sample);
  Item item;
  item.x = sample.written<float>(spec[0].name);
  if (find(spec, "label") != nullptr) item.label = sample.written<int64_t>("label").at(0);
  if (find(spec, "y") != nullptr) item.y = sample.written<float>("y");
  if (find(spec, "weight") != nullptr) item.weight = sample.written<float>("weight").at(0);
  return item;
}

std::vector<Item> all_of(const Dataset& dataset) {
  std::vector<Item> items;
  for (int64_t i = 0; i < dataset.size(); ++i) items.push_back(read(dataset, i));
  return items;
}

std::string fields_of(const std::string& params) {
  std::string text;
  for (const FieldSpec& field : make<Dataset>("tenon_datasets", "synthetic", params)->spec()) {
    text += (text.empty() ? "" : ", ") + field.name + " " + to_string(field);
  }
  return text;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::vector<double> values) {
  const double mean = mean_of(values);
  for (double& value : values) value = (value - mean) * (value - mean);
  return std::sqrt(mean_of(values));
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum);
}

TEST(Synthetic, SaysItsFieldsBeforeItIsOpened) {
  EXPECT_EQ(fields_of("{}"), "x float32[16], label int64[]");
  EXPECT_EQ(fields_of(R"({"shape": [3, 32, 32], "field": "image", "weights": true})"),
            "image float32[3, 32, 32], label int64[], weight float32[]");
  EXPECT_EQ(fields_of(R"({"task": "regression", "features": 5, "targets": 2})"), "x float32[5], y float32[2]");
}

TEST(Synthetic, ClassesComeInTurnAroundCentresThatPartsShare) {
  const std::string shape = R"("size": 600, "classes": 3, "features": 8)";
  const auto centres = synthetic("{" + shape + R"(, "noise": 0})");
  for (const char* const split : {"train", "val", "test"}) {
    const auto part = synthetic("{" + shape + R"(, "noise": 0.5, "split": ")" + split + "\"}");
    std::vector<double> noise;
    for (int64_t i = 0; i < part->size(); ++i) {
      const Item item = read(*part, i);
      ASSERT_EQ(item.label, i % 3);
      const Item centre = read(*centres, item.label);
      for (std::size_t f = 0; f < 8; ++f) {
        noise.push_back(static_cast<double>(item.x[f]) - static_cast<double>(centre.x[f]));
      }
    }
    EXPECT_NEAR(mean_of(noise), 0, 0.03) << split;
    EXPECT_NEAR(deviation_of(noise), 0.5, 0.02) << split;
  }
  EXPECT_GT(distance(read(*centres, 0).x, read(*centres, 1).x), 1);
}

TEST(Synthetic, PartsHoldDifferentSamples) {
  std::set<std::vector<float>> samples;
  for (const char* const split : {"train", "val", "test"}) {
    const auto part = synthetic(R"({"size": 100, "features": 4, "split": ")" + std::string(split) + "\"}");
    for (const Item& item : all_of(*part)) samples.insert(item.x);
  }
  EXPECT_EQ(samples.size(), 300U);
}

/// Solves the map from as many samples as there are features, and predicts others of another part with it.
TEST(Synthetic, ARegressionIsOneLinearMapForAllPartsPlusNoise) {
  constexpr std::size_t kFeatures = 4;
  const std::string shape = R"({"task": "regression", "features": 4, "targets": 3, "size": 2000)";
  const auto exact = synthetic(shape + R"(, "noise": 0})");
  const auto noisy = synthetic(shape + R"(, "noise": 0.25, "split": "test"})");
  for (std::size_t target = 0; target < 3; ++target) {
    std::vector<std::vector<double>> rows(kFeatures);  // of [x | y], by elimination
    for (std::size_t i = 0; i < kFeatures; ++i) {
      const Item item = read(*exact, static_cast<int64_t>(i));
      rows[i].assign(item.x.begin(), item.x.end());
      rows[i].push_back(static_cast<double>(item.y[target]));
    }
    for (std::size_t i = 0; i < kFeatures; ++i) {
      for (std::size_t other = 0; other < kFeatures; ++other) {
        if (other == i) continue;
        const double factor = rows[other][i] / rows[i][i];
        for (std::size_t j = 0; j <= kFeatures; ++j) rows[other][j] -= factor * rows[i][j];
      }
    }
    std::vector<double> residuals;
    std::vector<double> exact_residuals;
    const auto residual = [&](const Item& item) {
      double y = 0;
      for (std::size_t f = 0; f < kFeatures; ++f) y += static_cast<double>(item.x[f]) * rows[f].back() / rows[f][f];
      return static_cast<double>(item.y[target]) - y;
    };
    for (int64_t i = 0; i < 2000; ++i) {
      residuals.push_back(residual(read(*noisy, i)));
      exact_residuals.push_back(residual(read(*exact, i)));
    }
    EXPECT_LT(deviation_of(exact_residuals), 1e-4) << target;
    EXPECT_NEAR(mean_of(residuals), 0, 0.02) << target;
    EXPECT_NEAR(deviation_of(residuals), 0.25, 0.02) << target;
  }
}

TEST(Synthetic, WeightsFillTheirIntervalAndLeaveTheRestAlone) {
  const auto plain = synthetic(R"({"size": 4000, "features": 2})");
  const auto weighted = synthetic(R"({"size": 4000, "features": 2, "weights": true})");
  float lowest = 9;
  float highest = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    const Item item = read(*weighted, i);
    EXPECT_EQ(item.x, read(*plain, i).x);
    lowest = std::min(lowest, item.weight);
    highest = std::max(highest, item.weight);
  }
  EXPECT_GE(lowest, 0.5F);
  EXPECT_LT(lowest, 0.51F);
  EXPECT_LT(highest, 2.0F);
  EXPECT_GT(highest, 1.99F);
}

TEST(Synthetic, ASampleDependsOnItsIndexAndNotOnTheSize) {
  const auto few = synthetic(R"({"size": 10, "classes": 3})");
  const auto many = synthetic(R"({"size": 1000, "classes": 3})");
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(read(*few, i), read(*many, i));
}

TEST(Synthetic, ShapeChangesNoNumber) {
  const auto flat = synthetic(R"({"features": 12})");
  const auto image = synthetic(R"({"shape": [3, 2, 2]})");
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(read(*flat, i), read(*image, i));
}

TEST(Synthetic, FingerprintTellsApartWhatReadsDifferently) {
  const std::vector<std::string> variants{R"({})",
                                          R"({"seed": 1})",
                                          R"({"split": "val"})",
                                          R"({"size": 1025})",
                                          R"({"classes": 11})",
                                          R"({"noise": 0})",
                                          R"({"shape": [4, 4]})",
                                          R"({"task": "regression"})",
                                          R"({"weights": true})",
                                          R"({"task": "regression", "targets": 2})"};
  std::set<std::string> prints;
  for (const std::string& params : variants) {
    prints.insert(synthetic(params)->fingerprint());
    EXPECT_EQ(synthetic(params)->fingerprint(), synthetic(params)->fingerprint());
  }
  EXPECT_EQ(prints.size(), variants.size());
}

TEST(Synthetic, ReadsTheSameFromManyThreads) {
  const auto dataset = synthetic(R"({"task": "regression", "weights": true})");
  const std::vector<Item> expected = all_of(*dataset);
  std::vector<int64_t> wrong(4);
  std::vector<std::thread> threads;
  threads.reserve(wrong.size());
  for (int64_t& count : wrong) {
    threads.emplace_back([&] {
      for (int64_t i = dataset->size() - 1; i >= 0; --i) {
        count += read(*dataset, i) == expected[static_cast<std::size_t>(i)] ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::vector<int64_t>{0, 0, 0, 0}));
}

TEST(Synthetic, RefusesWhatContradictsItself) {
  const auto pointer = [](const std::string& params) {
    return error_of([&] { (void)make<Dataset>("tenon_datasets", "synthetic", params); }).pointer();
  };
  EXPECT_EQ(pointer(R"({"features": 5, "shape": [2, 3]})"), "/features");
  EXPECT_EQ(pointer(R"({"shape": [4294967296, 4294967296]})"), "/shape");
  EXPECT_EQ(pointer(R"({"field": "label"})"), "/field");
  EXPECT_EQ(pointer(R"({"classes": 1})"), "/classes");
  const Error large = error_of(
      [] { (void)make<Dataset>("tenon_datasets", "synthetic", R"({"classes": 100000, "shape": [3, 64, 64]})"); });
  EXPECT_EQ(large.code(), ErrorCode::kConfig);
  EXPECT_NE(std::string(large.what()).find("100000 times 12288"), std::string::npos) << large.what();
  const auto input = synthetic("{}");
  Dataset* const inputs[] = {input.get()};
  EXPECT_EQ(error_of([&] { make<Dataset>("tenon_datasets", "synthetic")->open(inputs); }).code(), ErrorCode::kConfig);
}

}  // namespace
}  // namespace tenon::test
