// What is said of a loader, by its numbers.
#include <engine/data/loader_facts.hpp>

#include <string>

#include <gtest/gtest.h>

namespace tenon::engine {
namespace {

/// 10000 samples of 2 ms, all of it on a core, on the one thread of two cores.
LoaderFacts facts() {
  LoaderFacts facts;
  facts.node = "train";
  facts.settled = true;
  facts.workers = 1;
  facts.cores = 2;
  facts.prefetch = facts.ahead = 2;
  facts.batch_bytes = 3 << 20;
  facts.batches = 100;
  facts.samples = 10000;
  facts.wall = 20;
  facts.cpu = 19.8;
  return facts;
}

TEST(LoaderFacts, TellHowManySamplesThereCouldBe) {
  EXPECT_DOUBLE_EQ(facts().samples_per_second(), 500);
  LoaderFacts more = facts();
  more.workers = 4;
  EXPECT_DOUBLE_EQ(more.samples_per_second(), 2000);
  more.workers = 0;
  EXPECT_DOUBLE_EQ(more.samples_per_second(), 500) << "the trainer itself";
  EXPECT_DOUBLE_EQ(LoaderFacts{}.samples_per_second(), 0);
}

TEST(LoaderFacts, TellWhatWasChosenAndWhy) {
  EXPECT_EQ(describe_choice(facts()),
            "loader \"train\": 1 thread chosen for 2 cores; a sample takes 2 ms, 99 % of it on a core");
  LoaderFacts none = facts();
  none.workers = 0;
  none.wall = 0.02;
  EXPECT_EQ(describe_choice(none), "loader \"train\": no threads, since a sample takes no more than 2 µs");
}

TEST(Bottleneck, IsNoneWhereTrainingHardlyWaitsOrHasHardlyBegun) {
  EXPECT_EQ(describe_bottleneck(facts(), 100, 14), std::nullopt);
  EXPECT_NE(describe_bottleneck(facts(), 100, 16), std::nullopt);
  EXPECT_EQ(describe_bottleneck(facts(), 0.5, 0.4), std::nullopt);
  LoaderFacts few = facts();
  few.batches = 10;
  EXPECT_EQ(describe_bottleneck(few, 100, 90), std::nullopt);
}

TEST(Bottleneck, AreTooFewWorkersWhereThePipelineFixedThem) {
  EXPECT_EQ(describe_bottleneck(facts(), 100, 42),
            "training waited for loader \"train\" 42 % of the time: 1 thread on 2 cores cannot make more than 500 "
            "samples/s, 2 ms each; more \"workers\", or \"auto\", would help");
}

TEST(Bottleneck, AreTheCoresWhereAllAreBusy) {
  LoaderFacts full = facts();
  full.workers = 2;
  full.automatic = true;
  EXPECT_EQ(
      describe_bottleneck(full, 100, 42),
      "training waited for loader \"train\" 42 % of the time: a sample takes 2 ms, 99 % of it on a core, and 2 cores "
      "cannot make more than 1000 samples/s; a dataset:cache of decoded samples, smaller images, fewer transforms "
      "or more cores would help");
}

TEST(Bottleneck, IsStorageWhereSamplesWaitThemselves) {
  LoaderFacts waits = facts();
  waits.cpu = 4;
  EXPECT_EQ(
      describe_bottleneck(waits, 100, 42),
      "training waited for loader \"train\" 42 % of the time: a sample takes 2 ms, of which it waits 80 % for storage "
      "or other machines; more \"workers\", a dataset:cache or faster storage would help");
  waits.automatic = true;
  const std::string text = describe_bottleneck(waits, 100, 42).value();
  EXPECT_EQ(text.find("workers"), std::string::npos) << "as many as help are there: " << text;
}

TEST(Bottleneck, IsMemoryWhereItKeepsBatchesFromBeingReady) {
  LoaderFacts scarce = facts();
  scarce.ahead = 1;
  EXPECT_EQ(
      describe_bottleneck(scarce, 100, 42),
      "training waited for loader \"train\" 42 % of the time: memory allows 1 of 2 batches ahead, at 3 MiB each; more "
      "\"memory\", or a smaller batch, would help");
}

TEST(Bottleneck, IsTheTrainerItselfWithoutThreads) {
  LoaderFacts none = facts();
  none.workers = 0;
  none.ahead = 0;
  none.cpu = 0;
  EXPECT_EQ(describe_bottleneck(none, 100, 42),
            "training waited for loader \"train\" 42 % of the time: samples are made between the steps, 2 ms each; "
            "\"workers\": \"auto\" makes them ahead");
}

TEST(LoaderFacts, AtTheStartTheBoundsAreTold) {
  LoaderFacts start;
  start.node = "train";
  start.workers = 2;
  start.prefetch = 6;
  start.memory = int64_t{1} << 30;
  EXPECT_EQ(describe_start(start), "loader \"train\": 2 threads, at most 6 batches or 1 GiB ahead");
  start.workers = 1;
  start.prefetch = 1;
  start.memory = 5 << 20;
  EXPECT_EQ(describe_start(start), "loader \"train\": 1 thread, at most 1 batch or 5 MiB ahead");
  start.workers = 0;
  EXPECT_EQ(describe_start(start), "loader \"train\": no threads, each batch is made when training asks for it");
  start.automatic = true;
  EXPECT_EQ(describe_start(start), "loader \"train\": as many threads as help, at most 1 batch or 5 MiB ahead");
}

}  // namespace
}  // namespace tenon::engine
