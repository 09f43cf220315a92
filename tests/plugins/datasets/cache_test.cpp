// dataset:cache: the same bytes, read once, in memory and in a file that processes share, also when one is killed.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

using std::chrono::milliseconds;

class Cache : public testing::Test {
 protected:
  [[nodiscard]] Json in_file(const Json& more = Json::object()) const {
    Json json{{"path", folder_ / "cached"}};
    json.update(more);
    return json;
  }

  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(folder_ / "cached")) return names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cached")) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  static void expect_same(const Dataset& cached, const Dataset& input) {
    ASSERT_EQ(cached.size(), input.size());
    for (int64_t i = 0; i < input.size(); ++i) ASSERT_EQ(bytes_read(cached, i), bytes_read(input, i)) << i;
  }

  TemporaryFolder folder_;
};

TEST_F(Cache, GivesTheBytesOfItsInputInEveryWay) {
  for (const bool with_text : {false, true}) {
    Counting input(100, 3, with_text);
    for (const Json& params : {Json::object(), Json{{"fill", "start"}}, in_file(), in_file()}) {
      SCOPED_TRACE(params.dump());
      const auto cached = opened_over("cache", params, {&input});
      EXPECT_EQ(text_of(cached->spec()), text_of(input.spec()));
      EXPECT_EQ(cached->fingerprint(), input.fingerprint());
      expect_same(*cached, input);
      expect_same(*cached, input);
      expect_column<int64_t>(*cached, "label");
      EXPECT_EQ(ability<Columns>(*cached)->lengths("text"), input.lengths("text"));
    }
  }
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(Cache, ReadsEachItemOnce) {
  Counting input(100);
  std::atomic<int> reads{0};
  input.on_read = [&](int64_t) { ++reads; };
  const auto lazy = opened_over("cache", Json::object(), {&input});
  EXPECT_EQ(reads, 0);
  for (int pass = 0; pass < 3; ++pass) (void)column<float>(*lazy, "x");
  EXPECT_EQ(reads.exchange(0), 100);
  const auto start = opened_over("cache", {{"fill", "start"}}, {&input});
  EXPECT_EQ(reads.exchange(0), 100);
  (void)column<float>(*start, "x");
  EXPECT_EQ(reads, 0);
  (void)opened_over("cache", in_file(), {&input});
  EXPECT_EQ(reads.exchange(0), 100);
  const auto again = opened_over("cache", in_file(), {&input});
  (void)column<float>(*again, "x");
  EXPECT_EQ(reads, 0);
}

TEST_F(Cache, ManyThreadsFillItLazily) {
  Counting input(500, 0, true);
  const auto cached = opened_over("cache", Json::object(), {&input});
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int64_t i = 0; i < 500; ++i) {
          const int64_t index = t % 2 == 0 ? i : 499 - i;
          wrong += bytes_read(*cached, index) == bytes_read(input, index) ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(Cache, CanBeViewedWhereAllIsThereAndOfOneShape) {
  Counting fixed(50);
  Counting ragged(50, 0, true);
  EXPECT_FALSE(ability<InMemory>(*opened_over("cache", Json::object(), {&fixed}))->can_view());
  expect_views(*opened_over("cache", {{"fill", "start"}}, {&fixed}));
  expect_views(*opened_over("cache", in_file(), {&fixed}));
  EXPECT_FALSE(ability<InMemory>(*opened_over("cache", in_file(), {&ragged}))->can_view());
}

TEST_F(Cache, TheLimitIsKept) {
  Counting input(100);  // 24 bytes an item and 8 for its axis
  const auto lazy = opened_over("cache", {{"limit", "1 KiB"}}, {&input});
  ASSERT_EQ(told_by(*lazy).size(), 1U);
  EXPECT_NE(told_by(*lazy)[0].find("read anew each time"), std::string::npos);
  expect_same(*lazy, input);
  std::atomic<int> reads{0};
  input.on_read = [&](int64_t) { ++reads; };
  (void)column<float>(*lazy, "x");
  EXPECT_GE(reads, 50);
  EXPECT_LT(reads, 100);
  Counting ragged(100, 0, true);
  for (Counting* const each : {&input, &ragged}) {
    for (const Json& params : {Json{{"limit", "1 KiB"}, {"fill", "start"}}, in_file({{"limit", "1 KiB"}})}) {
      expect_error(error_of([&] { (void)opened_over("cache", params, {each}); }), ErrorCode::kData, "/limit",
                   {"of 100 items take more than \"limit\": 1 KiB"});
    }
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(Cache, TheFirstUnreadableItemIsNamedAndNothingStays) {
  Counting input(200);
  input.on_read = [](int64_t index) {
    if (index == 150 || index == 70) throw Error(ErrorCode::kData, "this one is broken");
  };
  for (const Json& params : {Json{{"fill", "start"}}, in_file()}) {
    expect_error(error_of([&] { (void)opened_over("cache", params, {&input}); }), ErrorCode::kData, "",
                 {"sample 70 of the input: this one is broken"});
  }
  EXPECT_TRUE(files().empty());
  const auto lazy = opened_over("cache", Json::object(), {&input});
  expect_error(error_of([&] { (void)bytes_read(*lazy, 70); }), ErrorCode::kData, "", {"this one is broken"});
  (void)bytes_read(*lazy, 71);
}

TEST_F(Cache, FilesThatAreDamagedOrOfOtherDataAreMadeAnew) {
  Counting input(100, 0, true);
  const auto first = opened_over("cache", in_file(), {&input});
  ASSERT_EQ(files().size(), 1U);
  const std::filesystem::path file = folder_ / "cached" / files()[0];
  const std::string whole = core::content_of(file);
  std::vector<std::string> wrong{"", "something else", whole.substr(0, whole.size() - 8), whole + "more"};
  for (const std::size_t at : {std::size_t{3}, std::size_t{10}, std::size_t{60}, whole.size() - 9}) {
    wrong.push_back(whole);
    wrong.back()[at] = static_cast<char>(wrong.back()[at] ^ 1);
  }
  for (const std::string& content : wrong) {
    put(file, content);
    expect_same(*opened_over("cache", in_file(), {&input}), input);
    EXPECT_EQ(core::content_of(file), whole);
  }
  Counting other(99, 0, true);
  expect_same(*opened_over("cache", in_file(), {&other}), other);
  EXPECT_EQ(files().size(), 2U);
  put(folder_ / "file", "");
  expect_error(error_of([&] {
                 (void)opened_over("cache", {{"path", folder_ / "file"}}, {&input});
               }),
               ErrorCode::kStorage, "/path", {"cannot be made"});
}

/// Shared by this process and its children.
struct Shared {
  std::atomic<int> reads{0};
};

Shared& shared() {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *new (memory) Shared;
}

/// Runs `action` in a child process.
template <class Action>
pid_t in_child(const Action& action) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 1;
  try {
    action();
    status = 0;
  } catch (...) {
    status = 2;
  }
  ::_exit(status);
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(Cache, TwoProcessesAtOnceMakeTheFileOnce) {
  Shared& both = shared();
  Counting input(64, 0, true);
  input.on_read = [&](int64_t) {
    ++both.reads;
    std::this_thread::sleep_for(milliseconds(3));
  };
  const auto open_it = [&] { (void)opened_over("cache", in_file(), {&input}); };
  std::vector<pid_t> children;
  children.reserve(3);
  for (int i = 0; i < 3; ++i) children.push_back(in_child(open_it));
  const auto cached = opened_over("cache", in_file(), {&input});
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(both.reads, 64);
  EXPECT_EQ(files().size(), 1U);
  input.on_read = nullptr;
  expect_same(*cached, input);
}

TEST_F(Cache, AProcessKilledWhileItWritesLeavesNothingInTheWay) {
  Shared& both = shared();
  Counting input(4000, 0, true);
  input.on_read = [&](int64_t) {
    ++both.reads;
    std::this_thread::sleep_for(milliseconds(1));
  };
  const pid_t writer = in_child([&] { (void)opened_over("cache", in_file(), {&input}); });
  while (both.reads < 100) std::this_thread::sleep_for(milliseconds(1));
  const pid_t waiter = in_child([&] {
    input.on_read = nullptr;
    (void)opened_over("cache", in_file(), {&input});
  });
  std::this_thread::sleep_for(milliseconds(50));
  ::kill(writer, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(status_of(writer)));
  EXPECT_EQ(status_of(waiter), 0);  // it went on when the lock was gone
  EXPECT_EQ(files().size(), 1U);
  EXPECT_TRUE(files()[0].ends_with(".cache"));
  both.reads = 0;
  const auto cached = opened_over("cache", in_file(), {&input});
  EXPECT_EQ(both.reads, 0);
  input.on_read = nullptr;
  expect_same(*cached, input);
}

}  // namespace
}  // namespace tenon::test
