// distributed:threads on threads of this test: results, their bytes, and every way in which ranks can fail to meet.
#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/distributed.hpp>

namespace tenon::test {
namespace {

using Op = Collectives::Op;

/// A backend with a thread for each rank.
class Ranks {
 public:
  explicit Ranks(int64_t world, const std::string& timeout = "60 s")
      : world_(world),
        backend_(make<Distributed>("tenon_distributed", "threads",
                                   R"({"ranks": )" + std::to_string(world) + R"(, "timeout": ")" + timeout + "\"}")),
        in_process_(static_cast<InProcess*>(backend_->ability(InProcess::kAbility))) {}

  [[nodiscard]] InProcess& in_process() { return *in_process_; }

  /// Runs `body` as each rank; gives what each threw, or "" for nothing.
  std::vector<std::string> run(const std::function<void(Collectives&)>& body) {
    std::vector<std::string> problems(static_cast<std::size_t>(world_));
    std::vector<std::thread> threads;
    for (int64_t rank = 0; rank < world_; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(in_process_->rank(rank));
        } catch (const Error& error) {
          problems[static_cast<std::size_t>(rank)] =
              (error.code() == ErrorCode::kDistributed ? "" : "wrong code: ") + std::string(error.what());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return problems;
  }

  /// The same, where no rank may fail.
  void run_well(const std::function<void(Collectives&)>& body) {
    EXPECT_EQ(run(body), std::vector<std::string>(static_cast<std::size_t>(world_)));
  }

 private:
  int64_t world_;
  Made<Distributed> backend_;
  InProcess* in_process_;
};

/// A tensor of this rank's own numbers.
at::Tensor numbers(int64_t rank, at::ScalarType type) {
  at::Generator random = at::detail::createCPUGenerator(static_cast<uint64_t>(100 + rank));
  const at::Tensor normal = at::randn({5, 7}, random, at::TensorOptions(at::kDouble));
  return at::isFloatingType(type) ? normal.to(type) : normal.mul(1000).to(type);
}

class Threads : public ::testing::TestWithParam<std::tuple<int64_t, at::ScalarType>> {
 protected:
  int64_t world_ = std::get<0>(GetParam());
  at::ScalarType type_ = std::get<1>(GetParam());
  Ranks ranks_{world_};
};

INSTANTIATE_TEST_SUITE_P(All, Threads,
                         ::testing::Combine(::testing::Values(1, 2, 3),
                                            ::testing::Values(at::kFloat, at::kDouble, at::kLong)));

TEST_P(Threads, EveryRankKnowsItsPlace) {
  ASSERT_EQ(ranks_.in_process().ranks(), world_);
  for (int64_t rank = 0; rank < world_; ++rank) {
    EXPECT_EQ(ranks_.in_process().rank(rank).rank(), rank);
    EXPECT_EQ(ranks_.in_process().rank(rank).world(), world_);
  }
  EXPECT_EQ(error_of([&] { (void)ranks_.in_process().rank(world_); }).code(), ErrorCode::kDistributed);
}

TEST_P(Threads, AllReduceCombinesInOrderOfRankAndGivesTheSameBytes) {
  at::Tensor sum = numbers(0, type_);
  at::Tensor highest = sum;
  at::Tensor lowest = sum;
  for (int64_t rank = 1; rank < world_; ++rank) {
    sum = sum + numbers(rank, type_);
    highest = at::maximum(highest, numbers(rank, type_));
    lowest = at::minimum(lowest, numbers(rank, type_));
  }
  for (int repeat = 0; repeat < 20; ++repeat) {  // whoever comes last
    ranks_.run_well([&](Collectives& ranks) {
      for (const auto& [op, expected] : {std::pair{Op::kSum, sum}, {Op::kMax, highest}, {Op::kMin, lowest}}) {
        at::Tensor tensor = numbers(ranks.rank(), type_);
        const void* const memory = tensor.data_ptr();
        ranks.all_reduce(tensor, op);
        EXPECT_TRUE(at::equal(tensor, expected));
        EXPECT_EQ(tensor.data_ptr(), memory) << "in place";
      }
    });
  }
}

TEST_P(Threads, AllGatherGivesEachRankTensorsOfItsOwnInOrder) {
  ranks_.run_well([&](Collectives& ranks) {
    const at::Tensor mine = numbers(ranks.rank(), type_);
    std::vector<at::Tensor> all = ranks.all_gather(mine);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(world_));
    for (int64_t rank = 0; rank < world_; ++rank) {
      EXPECT_TRUE(at::equal(all[static_cast<std::size_t>(rank)], numbers(rank, type_)));
    }
    all.front().fill_(ranks.rank());
    ranks.barrier();
    EXPECT_TRUE(all.front().eq(ranks.rank()).all().item<bool>()) << "another rank changed it";
    EXPECT_TRUE(at::equal(mine, numbers(ranks.rank(), type_)));
  });
}

TEST_P(Threads, BroadcastTakesTheRootsTensorAsItWasThen) {
  for (int64_t root = 0; root < world_; ++root) {
    ranks_.run_well([&](Collectives& ranks) {
      at::Tensor tensor = numbers(ranks.rank(), type_);
      ranks.broadcast(tensor, root);
      EXPECT_TRUE(at::equal(tensor, numbers(root, type_)));
      if (ranks.rank() == root) tensor.zero_();  // at once, while others may still be copying
    });
  }
}

TEST(ThreadsBackend, TakesScalarsViewsAndParametersThatNeedGradients) {
  Ranks(3).run_well([](Collectives& ranks) {
    at::Tensor scalar = at::full({}, 0.5, at::kDouble);
    ranks.all_reduce(scalar, Op::kSum);
    EXPECT_EQ(scalar.item<double>(), 1.5);
    const at::Tensor whole = at::zeros({4, 4}, at::kFloat);
    at::Tensor column = whole.select(1, 2);
    column.fill_(1);
    ranks.all_reduce(column, Op::kSum);
    EXPECT_EQ(whole.sum().item<double>(), 12);
    at::Tensor parameter = at::ones({2}, at::kFloat).set_requires_grad(true);
    ranks.all_reduce(parameter, Op::kSum);
    EXPECT_EQ(parameter.sum().item<double>(), 6);
    EXPECT_TRUE(parameter.is_leaf());
  });
}

TEST(ThreadsBackend, ANumberThatIsNoneReachesAllRanks) {
  Ranks(2).run_well([](Collectives& ranks) {
    for (const Op op : {Op::kSum, Op::kMax, Op::kMin}) {
      at::Tensor tensor = at::full({1}, ranks.rank() == 1 ? std::nan("") : 1.0, at::kDouble);
      ranks.all_reduce(tensor, op);
      EXPECT_TRUE(std::isnan(tensor.item<double>()));
    }
  });
}

TEST(ThreadsBackend, TenThousandCallsStayInStep) {
  Ranks(3).run_well([](Collectives& ranks) {
    at::Tensor tensor = at::zeros({2}, at::kLong);
    int64_t wrong = 0;
    for (int64_t i = 0; i < 10000; ++i) {
      tensor.fill_(i * (ranks.rank() + 1));
      ranks.all_reduce(tensor, i % 2 == 0 ? Op::kSum : Op::kMax);
      const int64_t expected = i % 2 == 0 ? 6 * i : 3 * i;
      wrong += tensor.eq(expected).all().item<bool>() ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0);
  });
}

TEST(ThreadsBackend, DifferentCallsFailOnAllRanksAndNameBoth) {
  const auto problem = [](const std::function<void(Collectives&)>& first,
                          const std::function<void(Collectives&)>& second) {
    Ranks ranks(3);
    const std::vector<std::string> problems =
        ranks.run([&](Collectives& each) { each.rank() == 2 ? second(each) : first(each); });
    EXPECT_EQ(problems[0], problems[1]);
    EXPECT_EQ(problems[0], problems[2]);
    EXPECT_EQ(ranks.run([](Collectives& each) { each.barrier(); }), problems) << "it is over";
    return problems[0];
  };
  const auto reduce = [](at::IntArrayRef shape, at::ScalarType type, Op op) {
    return [shape = shape.vec(), type, op](Collectives& each) {
      at::Tensor tensor = at::zeros(shape, type);
      each.all_reduce(tensor, op);
    };
  };
  const auto send = [](int64_t root) {
    return [root](Collectives& each) {
      at::Tensor tensor = at::zeros({2}, at::kFloat);
      each.broadcast(tensor, root);
    };
  };
  const std::string end = ": all ranks must do the same in the same order";
  EXPECT_EQ(problem(reduce({3}, at::kFloat, Op::kSum), [](Collectives& each) { each.barrier(); }),
            "rank 0 calls all_reduce(sum) of float32[3], but rank 2 calls barrier" + end);
  EXPECT_EQ(problem(reduce({3}, at::kFloat, Op::kSum), reduce({4}, at::kFloat, Op::kSum)),
            "rank 0 calls all_reduce(sum) of float32[3], but rank 2 calls all_reduce(sum) of float32[4]" + end);
  EXPECT_EQ(problem(reduce({3}, at::kFloat, Op::kSum), reduce({3}, at::kDouble, Op::kSum)),
            "rank 0 calls all_reduce(sum) of float32[3], but rank 2 calls all_reduce(sum) of float64[3]" + end);
  EXPECT_EQ(problem(reduce({}, at::kLong, Op::kMax), reduce({}, at::kLong, Op::kMin)),
            "rank 0 calls all_reduce(max) of int64[], but rank 2 calls all_reduce(min) of int64[]" + end);
  EXPECT_EQ(
      problem(send(0), send(1)),
      "rank 0 calls broadcast of float32[2] from rank 0, but rank 2 calls broadcast of float32[2] from rank 1" + end);
}

TEST(ThreadsBackend, ARankThatDoesNotComeIsNamedAndFailsToo) {
  Ranks ranks(3, "0.2 s");
  const std::vector<std::string> problems = ranks.run([](Collectives& each) {
    each.barrier();
    at::Tensor tensor = at::zeros({2}, at::kFloat);
    if (each.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
    each.all_reduce(tensor, Op::kSum);
  });
  for (const std::string& problem : problems) {
    EXPECT_EQ(
        problem,
        "rank 1 did not come to all_reduce(sum) of float32[2] within 0.2 s; the last call of all ranks, number 1, "
        "was barrier");
  }
}

TEST(ThreadsBackend, SeveralMissingRanksAreAllNamed) {
  Ranks ranks(3, "0.05 s");
  const std::vector<std::string> problems = ranks.run([](Collectives& each) {
    if (each.rank() == 1) each.barrier();
  });
  EXPECT_EQ(problems, (std::vector<std::string>{
                          "", "ranks 0, 2 did not come to barrier within 0.05 s, the first call of all", ""}));
}

TEST(ThreadsBackend, AbandonWakesThoseWhoWaitAndKeepsTheFirstReason) {
  Ranks ranks(3);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string> problems = ranks.run([&](Collectives& each) {
    if (each.rank() < 2) return each.barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ranks.in_process().abandon("rank 2: the disk is full");
    ranks.in_process().abandon("something later");
  });
  EXPECT_EQ(problems, (std::vector<std::string>{"rank 2: the disk is full", "rank 2: the disk is full", ""}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "far below the timeout";
  EXPECT_EQ(ranks.run([](Collectives& each) { each.barrier(); }),
            std::vector<std::string>(3, "rank 2: the disk is full"));
}

TEST(ThreadsBackend, ACallThatWasCompleteStandsWhenARankFailsBehindIt) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    Ranks ranks(2);
    const std::vector<std::string> problems = ranks.run([&](Collectives& each) {
      at::Tensor tensor = at::ones({1}, at::kFloat);
      each.all_reduce(tensor, Op::kSum);
      EXPECT_EQ(tensor.item<float>(), 2);
      if (each.rank() == 0) ranks.in_process().abandon("behind it");
    });
    ASSERT_EQ(problems, std::vector<std::string>(2));
  }
}

TEST(ThreadsBackend, RefusesWhatCannotWork) {
  const auto backend = make<Distributed>("tenon_distributed", "threads");
  const Error join = error_of([&] { (void)backend->join(); });
  EXPECT_EQ(join.code(), ErrorCode::kDistributed);
  EXPECT_NE(std::string(join.what()).find("threads that the engine starts"), std::string::npos) << join.what();
  EXPECT_EQ(backend->ability("tenon.in_process/2"), nullptr);
  EXPECT_EQ(Ranks(2).in_process().ranks(), 2);
  const auto pointer = [](const std::string& params) {
    return error_of([&] { (void)make<Distributed>("tenon_distributed", "threads", params); }).pointer();
  };
  EXPECT_EQ(pointer(R"({"ranks": 0})"), "/ranks");
  EXPECT_EQ(pointer(R"({"ranks": 17})"), "/ranks");
  EXPECT_EQ(pointer(R"({"timeout": "0 s"})"), "/timeout");
  at::Tensor tensor = at::zeros({1}, at::kFloat);
  EXPECT_EQ(error_of([&] { Ranks(2).in_process().rank(0).broadcast(tensor, 2); }).code(), ErrorCode::kDistributed);
}

}  // namespace
}  // namespace tenon::test
