// dataset:split: parts that do not overlap, follow what samples hold, and have the sizes that were asked for.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <new>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include <plugins/datasets/rows.hpp>
#include <tenon/components/derived.hpp>

namespace tenon::test {
namespace {

constexpr const char* kParts[] = {"train", "val", "test"};

/// Rows of (x, label, patient) in memory.
class Rows final : public Dataset {
 public:
  struct Row {
    double x = 0;
    int64_t label = 0;
    std::string patient;
  };

  explicit Rows(std::vector<Row> rows) : rows_(std::move(rows)) {}

  [[nodiscard]] Spec spec() const override {
    return {{"x", Dtype::kFloat64, {}}, {"label", Dtype::kInt64, {}}, {"patient", Dtype::kUint8, {Dim()}}};
  }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(rows_.size()); }
  [[nodiscard]] std::string fingerprint() const override { return "rows"; }
  void read(int64_t index, Sample& out) const override {
    const Row& row = rows_.at(static_cast<std::size_t>(index));
    if (std::isnan(row.x)) throw Error(ErrorCode::kData, "this row is unreadable");
    out.allocate("x", Dtype::kFloat64, {}).as<double>()[0] = row.x;
    out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = row.label;
    const Shape shape{static_cast<int64_t>(row.patient.size())};
    std::copy(row.patient.begin(), row.patient.end(), out.allocate(2, Dtype::kUint8, shape).as<uint8_t>().begin());
  }

 private:
  std::vector<Row> rows_;
};

std::vector<Rows::Row> rows(std::size_t count, int64_t classes = 3, std::size_t patients = 50) {
  std::vector<Rows::Row> all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<int64_t>(i);
    all.push_back(
        {static_cast<double>(i) / 7, number % classes, std::string("p").append(std::to_string(i * 31 % patients))});
  }
  return all;
}

Derived& derived(Dataset& dataset) {
  auto* const ability = static_cast<Derived*>(dataset.ability(Derived::kAbility));
  if (ability == nullptr) throw std::runtime_error("it is not derived");
  return *ability;
}

/// One part of the rows, as the engine makes it.
class Part {
 public:
  Part(std::vector<Rows::Row> all, const std::string& part, Json params = Json::object()) : rows_(std::move(all)) {
    params["part"] = part;
    split_ = made("split", params);
    const Spec specs[] = {rows_.spec()};
    derived(*split_).derive(specs);
    Dataset* const inputs[] = {&rows_};
    split_->open(inputs);
  }

  [[nodiscard]] const Dataset& operator*() const { return *split_; }
  [[nodiscard]] std::vector<double> x() const { return column<double>(*split_, "x"); }
  [[nodiscard]] std::vector<int64_t> labels() const { return column<int64_t>(*split_, "label"); }

 private:
  Rows rows_;
  Made<Dataset> split_;
};

/// x → the part that it lies in. Fails where an x lies in two.
std::map<double, std::string> parts_of(const std::vector<Rows::Row>& all, const Json& params = Json::object()) {
  std::map<double, std::string> found;
  for (const char* const part : kParts) {
    for (const double x : Part(all, part, params).x()) {
      const auto [there, added] = found.emplace(x, part);
      EXPECT_TRUE(added || there->second == part) << x;
    }
  }
  return found;
}

Json fractions(double train, double val, double test) { return {{"train", train}, {"val", val}, {"test", test}}; }

/// Whether a count can be that of a binomial distribution: within five standard deviations.
void expect_binomial(std::size_t found, std::size_t count, double share) {
  const double mean = static_cast<double>(count) * share;
  EXPECT_NEAR(static_cast<double>(found), mean, 5 * std::sqrt(mean * (1 - share)));
}

TEST(Split, HasTheFieldsOfItsInputBeforeItIsOpened) {
  const auto split = made("split", {{"part", "val"}});
  const Spec specs[] = {Rows({}).spec()};
  derived(*split).derive(specs);
  EXPECT_EQ(text_of(split->spec()), "x float64[], label int64[], patient uint8[?]");
}

TEST(Split, PartsAreDisjointAndCompleteAndInOrder) {
  const auto all = rows(2000);
  for (const Json& params :
       {Json::object(), Json{{"stratify", "label"}}, Json{{"group", "patient"}}, Json{{"seed", 5}}}) {
    std::vector<double> together;
    for (const char* const part : kParts) {
      const std::vector<double> x = Part(all, part, params).x();
      EXPECT_TRUE(std::is_sorted(x.begin(), x.end()));
      together.insert(together.end(), x.begin(), x.end());
    }
    std::sort(together.begin(), together.end());
    ASSERT_EQ(together.size(), all.size()) << params;
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(together[i], all[i].x);
  }
}

TEST(Split, ReadsTheSamplesOfTheInputToTheByte) {
  const auto all = rows(300);
  const Part part(all, "train");
  MemorySample sample((*part).spec());
  for (int64_t i = 0; i < (*part).size(); ++i) {
    (*part).read(i, sample);
    const auto x = sample.written<double>("x").at(0);
    const Rows::Row& row = all.at(static_cast<std::size_t>(std::lround(x * 7)));
    EXPECT_EQ(sample.written<int64_t>("label").at(0), row.label);
    const auto patient = sample.written<uint8_t>("patient");
    EXPECT_EQ(std::string(patient.begin(), patient.end()), row.patient);
  }
}

TEST(Split, FractionsAreWhatAHashOfManySamplesGives) {
  const auto all = rows(20000);
  for (const int seed : {0, 1, 2}) {
    const Json params{{"seed", seed}, {"fractions", fractions(0.7, 0.2, 0.1)}};
    expect_binomial(Part(all, "train", params).x().size(), all.size(), 0.7);
    expect_binomial(Part(all, "val", params).x().size(), all.size(), 0.2);
    expect_binomial(Part(all, "test", params).x().size(), all.size(), 0.1);
  }
}

TEST(Split, AnotherSeedDrawsOtherParts) {
  const auto all = rows(5000);
  const auto first = parts_of(all);
  const auto second = parts_of(all, {{"seed", 1}});
  std::size_t both_val = 0;
  for (const auto& [x, part] : first) both_val += part == "val" && second.at(x) == "val" ? 1 : 0;
  expect_binomial(both_val, all.size(), 0.01);
}

TEST(Split, AddedRemovedAndMovedRowsMoveNoOther) {
  const auto all = rows(3000);
  for (const Json& params : {Json::object(), Json{{"group", "patient"}}}) {
    const auto before = parts_of(all, params);
    std::vector<Rows::Row> changed(all.begin() + 500, all.end());
    for (int i = 0; i < 700; ++i) changed.push_back({-1.0 - i, i, std::string("new ").append(std::to_string(i))});
    std::shuffle(changed.begin(), changed.end(), std::mt19937_64(3));
    const auto after = parts_of(changed, params);
    for (std::size_t i = 500; i < all.size(); ++i) ASSERT_EQ(after.at(all[i].x), before.at(all[i].x));
  }
}

TEST(Split, EqualSamplesLieInOnePart) {
  std::vector<Rows::Row> all;
  for (std::size_t i = 0; i < 4000; ++i) all.push_back({static_cast<double>(i % 400), 0, "p"});
  for (const Json& params : {Json::object(), Json{{"stratify", "label"}}}) {
    EXPECT_EQ(parts_of(all, params).size(), 400U);
    std::size_t count = 0;
    for (const char* const part : kParts) count += Part(all, part, params).x().size();
    EXPECT_EQ(count, 4000U);
  }
}

TEST(Split, EveryFieldHasItsSayInTheHash) {
  std::set<std::string> by_x;
  std::set<std::string> by_label;
  std::set<std::string> by_patient;
  const auto part_of = [](const Rows::Row& row) {
    for (const char* const part : kParts) {
      try {
        return std::string(Part({row}, part).x().empty() ? "" : part);
      } catch (const Error&) {  // that part is empty
      }
    }
    return std::string();
  };
  for (int i = 0; i < 60; ++i) {
    by_x.insert(part_of({static_cast<double>(i), 0, "p"}));
    by_label.insert(part_of({0, i, "p"}));
    by_patient.insert(part_of({0, 0, std::string(static_cast<std::size_t>(i), 'p')}));
  }
  const std::set<std::string> all{"train", "val", "test"};
  EXPECT_EQ(by_x, all);
  EXPECT_EQ(by_label, all);
  EXPECT_EQ(by_patient, all);
}

TEST(Split, GroupsStayWhole) {
  const auto all = rows(5000, 3, 200);
  const auto parts = parts_of(all, {{"group", "patient"}});
  std::map<std::string, std::set<std::string>> of_patient;
  for (const Rows::Row& row : all) of_patient[row.patient].insert(parts.at(row.x));
  std::map<std::string, std::size_t> patients;
  for (const auto& [patient, found] : of_patient) {
    EXPECT_EQ(found.size(), 1U) << patient;
    ++patients[*found.begin()];
  }
  EXPECT_EQ(of_patient.size(), 200U);
  expect_binomial(patients["train"], 200, 0.8);
  expect_binomial(patients["val"], 200, 0.1);
}

TEST(Split, StratifiedCountsAreExactByLargestRemainder) {
  std::vector<Rows::Row> all;
  const std::vector<std::size_t> sizes{1000, 999, 101, 33, 7, 1};
  for (std::size_t label = 0; label < sizes.size(); ++label) {
    for (std::size_t i = 0; i < sizes[label]; ++i) {
      all.push_back({static_cast<double>(all.size()), static_cast<int64_t>(label), "p"});
    }
  }
  std::shuffle(all.begin(), all.end(), std::mt19937_64(9));
  const Json params{{"stratify", "label"}, {"fractions", fractions(0.7, 0.2, 0.1)}};
  std::map<std::string, std::vector<std::size_t>> counts;
  for (const char* const part : kParts) {
    counts[part].resize(sizes.size());
    for (const int64_t label : Part(all, part, params).labels()) ++counts[part][static_cast<std::size_t>(label)];
  }
  // 999: 699.3, 199.8, 99.9; 101: 70.7, 20.2, 10.1; 33: 23.1, 6.6, 3.3; 7: 4.9, 1.4, 0.7
  EXPECT_EQ(counts["train"], (std::vector<std::size_t>{700, 699, 71, 23, 5, 1}));
  EXPECT_EQ(counts["val"], (std::vector<std::size_t>{200, 200, 20, 7, 1, 0}));
  EXPECT_EQ(counts["test"], (std::vector<std::size_t>{100, 100, 10, 3, 1, 0}));
}

TEST(Split, StratifiedPartsFollowTheSamplesAndNotTheirOrder) {
  auto all = rows(1000);
  const auto before = parts_of(all, {{"stratify", "label"}});
  std::shuffle(all.begin(), all.end(), std::mt19937_64(4));
  EXPECT_EQ(parts_of(all, {{"stratify", "label"}}), before);
}

/// Five samples a class make 4, 0.5, 0.5: were ties always given to val, test would stay empty.
TEST(Split, TiesBetweenPartsFavourNone) {
  const auto all = rows(2000, 400);
  const Json params{{"stratify", "label"}};
  EXPECT_EQ(Part(all, "train", params).x().size(), 1600U);
  expect_binomial(Part(all, "val", params).x().size(), 400, 0.5);
}

TEST(Split, APartWithoutAFractionGetsNothing) {
  const auto all = rows(3000);
  for (const Json& more : {Json::object(), Json{{"stratify", "label"}}}) {
    Json params{{"fractions", fractions(0.9, 0.1, 0)}};
    params.update(more);
    EXPECT_EQ(Part(all, "train", params).x().size() + Part(all, "val", params).x().size(), all.size());
    expect_error(error_of([&] { Part(all, "test", params); }), ErrorCode::kConfig, "/fractions/test",
                 {"fraction of 0"});
    params["fractions"] = fractions(1, 0, 0);
    EXPECT_EQ(Part(all, "train", params).x().size(), all.size());
  }
}

TEST(Split, FingerprintTellsPartsApart) {
  const auto all = rows(500);
  std::set<std::string> prints;
  for (const char* const part : kParts) {
    for (const int seed : {0, 1}) prints.insert((*Part(all, part, {{"seed", seed}})).fingerprint());
  }
  EXPECT_EQ(prints.size(), 6U);
  EXPECT_EQ((*Part(all, "val")).fingerprint(), (*Part(all, "val")).fingerprint());
  EXPECT_NE((*Part(all, "val")).fingerprint().find("rows"), std::string::npos);
}

TEST(Split, RefusesFractionsThatAreNoShares) {
  const auto refuses = [](const Json& shares, const std::string& pointer, const std::string& says) {
    expect_error(error_of([&] {
                   (void)made("split", {{"part", "train"}, {"fractions", shares}});
                 }),
                 ErrorCode::kConfig, pointer, {says});
  };
  refuses(fractions(0.8, 0.1, 0.2), "/fractions", "a sum of 1.1");
  refuses({{"train", 0.7}}, "/fractions", "a sum of 0.9");
  refuses(fractions(1.2, -0.1, -0.1), "/fractions/train", "at most 1");
  EXPECT_EQ(error_of([] { (void)made("split", Json::object()); }).code(), ErrorCode::kConfig);
  (void)made("split", {{"part", "train"}, {"fractions", fractions(0.7, 0.2, 0.1)}});
}

TEST(Split, RefusesFieldsAndInputsThatAreNotThere) {
  const auto all = rows(10);
  expect_error(error_of([&] {
                 Part(all, "train", {{"stratify", "lable"}});
               }),
               ErrorCode::kConfig, "/stratify", {"no field \"lable\"", "x, label, patient"});
  expect_error(error_of([&] {
                 Part(all, "train", {{"group", "doctor"}});
               }),
               ErrorCode::kConfig, "/group", {"no field \"doctor\""});
  expect_error(error_of([&] {
                 Part(all, "train", {{"group", "patient"}, {"stratify", "label"}});
               }),
               ErrorCode::kConfig, "/group", {"stratify or group"});
  const auto split = made("split", {{"part", "train"}});
  expect_error(error_of([&] { (void)split->spec(); }), ErrorCode::kConfig, "", {"has 0 as input"});
  expect_error(error_of([&] { derived(*split).derive({}); }), ErrorCode::kConfig, "", {"has 0 as input"});
  const Spec two[] = {Rows({}).spec(), Rows({}).spec()};
  expect_error(error_of([&] { derived(*split).derive(two); }), ErrorCode::kConfig, "", {"has 2 as input"});
  expect_error(error_of([&] { split->open({}); }), ErrorCode::kConfig, "", {"has 0 as input"});
}

TEST(Split, RefusesAnEmptyPart) {
  expect_error(error_of([] {
                 Part(rows(3), "val", {{"stratify", "label"}});
               }),
               ErrorCode::kData, "/fractions/val", {"part \"val\" of the 3 samples is empty"});
}

/// What each part of an input, some items of which cannot be read, gives: items by their number, and those that it cannot
/// read as their number below 0.
std::map<std::string, std::vector<int64_t>> with_unreadable(Counting& input, const Json& more) {
  std::map<std::string, std::vector<int64_t>> found;
  for (const char* const part : kParts) {
    Json params{{"part", part}};
    params.update(more);
    const auto split = opened_over("split", params, {&input});
    std::size_t unreadable = 0;
    for (int64_t i = 0; i < split->size(); ++i) {
      const int64_t item = std::stoll(ability<ItemNames>(*split)->item_name(i).substr(7));
      MemorySample sample(split->spec());
      try {
        split->read(i, sample);
        EXPECT_EQ(sample.written<float>("x").at(0), static_cast<float>(item));
        found[part].push_back(item);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kData);
        EXPECT_EQ(std::string(error.what()), "broken/" + std::to_string(item) + ".png: is damaged");
        found[part].push_back(-item);
        ++unreadable;
      }
    }
    const std::vector<std::string> told = told_by(*split);
    EXPECT_EQ(told.size(), unreadable == 0 ? 0U : 1U);
    for (const std::string& each : told) {
      const std::string count =
          std::to_string(unreadable) + " of " + std::to_string(split->size()) + " items cannot be read";
      EXPECT_NE(each.find(count), std::string::npos) << each;
      EXPECT_NE(each.find("of the input: broken/"), std::string::npos) << each;
    }
  }
  return found;
}

void damage(Counting& input, int64_t every) {
  input.on_read = [every](int64_t item) {
    if (item % every == 3) throw Error(ErrorCode::kData, "broken/" + std::to_string(item) + ".png: is damaged");
  };
}

TEST(Split, ASampleThatCannotBeReadLiesInOnePartAndSaysWhyWhenItIsRead) {
  for (const Json& params : {Json::object(), Json{{"seed", 2}}, Json{{"stratify", "label"}}}) {
    SCOPED_TRACE(params.dump());
    for (const bool columns : {true, false}) {
      Counting input(400);
      input.tells_columns = columns;
      const auto before = with_unreadable(input, params);
      damage(input, 10);
      const auto found = with_unreadable(input, params);
      EXPECT_EQ(found, with_unreadable(input, params));
      std::vector<int64_t> all;
      int64_t unreadable = 0;
      for (const auto& [part, items] : found) {
        for (const int64_t item : items) {
          unreadable += item < 0 ? 1 : 0;
          all.push_back(std::abs(item));
          if (item < 0 || params.contains("stratify")) continue;
          // Without exact shares a sound sample stays where it is, whatever becomes of others.
          EXPECT_TRUE(std::binary_search(before.at(part).begin(), before.at(part).end(), item)) << item;
        }
      }
      EXPECT_EQ(unreadable, 40);
      std::sort(all.begin(), all.end());
      std::vector<int64_t> each(400);
      std::iota(each.begin(), each.end(), 0);
      EXPECT_EQ(all, each);
    }
  }
}

TEST(Split, TheIndexTellsClassAndGroupOfASampleThatCannotBeRead) {
  Counting input(300);
  damage(input, 10);
  const auto counts = [&](const Json& params) {
    std::map<std::string, std::map<int64_t, int64_t>> count;  // of a part, of a class
    for (const auto& [part, items] : with_unreadable(input, params)) {
      for (const int64_t item : items) ++count[part][std::abs(item) % 3];
    }
    return count;
  };
  using Counts = std::map<int64_t, int64_t>;
  const auto by_class = counts({{"stratify", "label"}});
  EXPECT_EQ(by_class.at("train"), (Counts{{0, 80}, {1, 80}, {2, 80}}));
  EXPECT_EQ(by_class.at("test"), (Counts{{0, 10}, {1, 10}, {2, 10}}));
  // Three groups of 100: each lies whole in one part, with those of its samples that cannot be read.
  std::map<int64_t, int64_t> seen;
  Json params{{"group", "label"}, {"fractions", fractions(0.4, 0.3, 0.3)}};
  for (int seed = 0; seen.empty(); ++seed) {
    params["seed"] = seed;
    try {
      for (const auto& [part, groups] : counts(params)) {
        EXPECT_EQ(groups.size(), 1U) << part;
        for (const auto& [group, count] : groups) seen[group] += count;
        for (const auto& [group, count] : groups) EXPECT_EQ(count, 100);
      }
    } catch (const Error&) {  // a part is empty: another seed
      seen.clear();
    }
  }
  EXPECT_EQ(seen, (Counts{{0, 100}, {1, 100}, {2, 100}}));
  // What the index does not tell makes a class of its own, of which each part has its share.
  input.tells_columns = false;
  int64_t sound = 0;
  int64_t unreadable = 0;
  const auto parts = with_unreadable(input, {{"stratify", "label"}});
  for (const int64_t item : parts.at("train")) ++(item < 0 ? unreadable : sound);
  EXPECT_EQ(sound, 3 * 72);
  EXPECT_EQ(unreadable, 24);
}

TEST(Split, MemoryAndFileHandlesThatRunOutAreNoFaultOfASample) {
  for (const ErrorCode code : {ErrorCode::kMemory, ErrorCode::kStorage}) {
    Counting input(10);
    input.on_read = [&](int64_t item) {
      if (item == 6) throw Error(code, "there is no more of it");
    };
    const auto open = [&] { (void)opened_over("split", {{"part", "train"}}, {&input}); };
    expect_error(error_of(open), code, "", {"sample 6 of the input: there is no more of it"});
  }
  Counting input(10);
  input.on_read = [&](int64_t item) {
    if (item == 6) throw std::bad_alloc();
  };
  const auto open = [&] { (void)opened_over("split", {{"part", "train"}}, {&input}); };
  expect_error(error_of(open), ErrorCode::kMemory, "", {"sample 6 of the input: out of memory"});
}

/// How many reads of the input go on at once at most while a dataset over it is opened.
int most_reads_at_once(const std::string& dataset, const Json& params) {
  Counting input(200);
  std::atomic<int> reads{0};
  std::atomic<int> most{0};
  input.on_read = [&](int64_t) {
    const int now = ++reads;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --reads;
  };
  (void)opened_over(dataset, params, {&input});
  return most;
}

TEST(Split, ReadsOnSeveralThreadsWhereACacheIsFilledBySeveral) {
  const bool several = most_reads_at_once("cache", {{"fill", "start"}}) > 1;  // not where one core is to be had
  for (const Json& params : {Json::object(), Json{{"stratify", "label"}}, Json{{"group", "label"}, {"seed", 1}}}) {
    Json train{{"part", "train"}};
    train.update(params);
    EXPECT_EQ(most_reads_at_once("split", train) > 1, several) << params;
  }
}

/// While it lives, this thread and those that it starts have one core.
class OneCore {
 public:
  OneCore() {
    EXPECT_EQ(::sched_getaffinity(0, sizeof(before_), &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    EXPECT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;
  ~OneCore() { EXPECT_EQ(::sched_setaffinity(0, sizeof(before_), &before_), 0); }

 private:
  cpu_set_t before_{};
};

TEST(Split, PartsAndRemarksAreThoseOfOneThread) {
  for (const bool columns : {true, false}) {
    Counting input(1000, 0, true);
    input.tells_columns = columns;
    damage(input, 10);
    for (const Json& params : {Json::object(), Json{{"stratify", "label"}}, Json{{"group", "label"}, {"seed", 1}}}) {
      SCOPED_TRACE(params.dump());
      const auto told = [&] {
        std::vector<std::string> all;
        for (const char* const part : kParts) {
          Json whole{{"part", part}};
          whole.update(params);
          try {
            const auto split = opened_over("split", whole, {&input});
            all.push_back(split->fingerprint());  // of the items
            for (const std::string& each : told_by(*split)) all.push_back(each);
          } catch (const Error& error) {  // the three groups leave a part empty
            all.emplace_back(error.what());
          }
        }
        return all;
      };
      std::vector<std::string> alone;
      {
        const OneCore one;
        alone = told();
      }
      for (int i = 0; i < 5; ++i) EXPECT_EQ(told(), alone);
    }
  }
}

TEST(Split, TheFirstOfSeveralShortagesIsTold) {
  Counting input(400);
  input.on_read = [&](int64_t item) {
    if (item == 40) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // others come first
    if (item >= 40 && item % 10 == 0) throw Error(ErrorCode::kMemory, "there is no more of it");
  };
  for (const Json& params : {Json{{"part", "train"}}, Json{{"part", "val"}, {"stratify", "label"}}}) {
    const auto open = [&] { (void)opened_over("split", params, {&input}); };
    for (int i = 0; i < 10; ++i) expect_error(error_of(open), ErrorCode::kMemory, "", {"sample 40 of the input"});
  }
}

}  // namespace
}  // namespace tenon::test
