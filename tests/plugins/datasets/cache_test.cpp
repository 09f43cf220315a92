// dataset:cache: the same bytes, read once, in memory and in a file that processes share, also when one is killed or the
// file is damaged.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

using std::chrono::milliseconds;

/// Items of a file that is there which are compared with the input's.
constexpr int kCompared = 32;

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

  /// Of the cache, of which there is one.
  [[nodiscard]] std::filesystem::path the_file() const {
    EXPECT_EQ(files().size(), 1U);
    return folder_ / "cached" / files().at(0);
  }

  static std::string flipped(std::string content, std::size_t at) {
    content[at] = static_cast<char>(content[at] ^ 1);
    return content;
  }

  /// EXPECT one remark that says each of these.
  static void expect_told(Dataset& cached, const std::vector<std::string>& says) {
    const std::vector<std::string> told = told_by(cached);
    ASSERT_EQ(told.size(), 1U);
    for (const std::string& part : says) EXPECT_NE(told[0].find(part), std::string::npos) << part << " in " << told[0];
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
      EXPECT_EQ(ability<ItemNames>(*cached)->item_name(7), "number 10");
      EXPECT_EQ(ability<Categorical>(*cached)->categories("label"), input.classes);
    }
  }
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(Cache, TellsColumnsThatItsInputDoesNot) {
  Counting input(40, 0, true);
  input.tells_columns = false;
  EXPECT_EQ(ability<Columns>(*opened_over("cache", Json::object(), {&input}))->column("label"), std::nullopt);
  for (const Json& params : {Json{{"fill", "start"}}, in_file()}) {
    const auto cached = opened_over("cache", params, {&input});
    EXPECT_EQ(ability<Columns>(*cached)->column("label"), input.column("label"));
    EXPECT_EQ(ability<Columns>(*cached)->lengths("text"), input.lengths("text"));
    EXPECT_EQ(ability<Columns>(*cached)->column("x"), std::nullopt);
  }
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
  EXPECT_EQ(reads.exchange(0), kCompared);
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

TEST_F(Cache, AnItemThatCannotBeReadSaysWhyWhenItIsReadAndTheOthersAreThere) {
  for (const bool with_text : {false, true}) {
    Counting input(200, 0, with_text);
    const Counting whole(200, 0, with_text);
    const std::set<int64_t> broken{70, 150};
    bool filled = false;
    input.on_read = [&](int64_t index) {
      if (broken.contains(index)) throw Error(ErrorCode::kData, "a/" + std::to_string(index) + ".png: is damaged");
      EXPECT_FALSE(filled) << "what was read once is kept";
    };
    for (const Json& params : {Json::object(), Json{{"fill", "start"}}, in_file(), in_file()}) {
      SCOPED_TRACE(params.dump());
      const auto cached = opened_over("cache", params, {&input});
      filled = !params.empty();
      if (filled) {
        expect_told(*cached,
                    {"2 of 200 items cannot be read, the first is item 70 of the input: a/70.png: is damaged"});
      }
      for (int64_t item = 0; item < 200; ++item) {
        if (!broken.contains(item)) {
          ASSERT_EQ(bytes_read(*cached, item), bytes_read(whole, item)) << item;
          continue;
        }
        const Error error = error_of([&] { (void)bytes_read(*cached, item); });
        EXPECT_EQ(error.code(), ErrorCode::kData);
        EXPECT_EQ(std::string(error.what()), "a/" + std::to_string(item) + ".png: is damaged");
      }
      EXPECT_FALSE(ability<InMemory>(*cached)->can_view());
      EXPECT_EQ(ability<Columns>(*cached)->column("label"), input.column("label"));
      input.tells_columns = false;
      EXPECT_EQ(ability<Columns>(*cached)->column("label"), std::nullopt) << "some are not known";
      EXPECT_EQ(ability<Columns>(*cached)->lengths("text"), std::nullopt);
      input.tells_columns = true;
      filled = false;
    }
    EXPECT_EQ(files().size(), with_text ? 2U : 1U);
  }
}

TEST_F(Cache, AnItemThatWasMendedIsRead) {
  Counting input(200);
  bool damaged = true;
  input.on_read = [&](int64_t index) {
    if (damaged && index == 70) throw Error(ErrorCode::kData, "is damaged");
  };
  for (const Json& params : {Json{{"fill", "start"}}, in_file()}) {
    damaged = true;
    const auto cached = opened_over("cache", params, {&input});
    EXPECT_EQ(error_of([&] { (void)bytes_read(*cached, 70); }).code(), ErrorCode::kData);
    damaged = false;
    expect_same(*cached, input);
  }
  const auto again = opened_over("cache", in_file(), {&input});
  expect_told(*again, {the_file(), "lacked samples that can be read by now, such as item 70, and was made anew"});
  expect_views(*again);
  EXPECT_TRUE(told_by(*opened_over("cache", in_file(), {&input})).empty());
}

TEST_F(Cache, AnItemThatWasDamagedSinceComesFromTheFile) {
  Counting input(20);
  (void)opened_over("cache", in_file(), {&input});
  const std::string content = core::content_of(the_file());
  const auto whole = bytes_read(input, 7);
  input.on_read = [&](int64_t index) {
    if (index == 7) throw Error(ErrorCode::kData, "is damaged");
  };
  const auto cached = opened_over("cache", in_file(), {&input});
  EXPECT_EQ(bytes_read(*cached, 7), whole);
  EXPECT_TRUE(told_by(*cached).empty());
  EXPECT_EQ(core::content_of(the_file()), content);
  const std::size_t at = content.find(bytes_of<float>({7, -7}));
  ASSERT_NE(at, std::string::npos);
  put(the_file(), flipped(content, at));
  const auto both = opened_over("cache", in_file(), {&input});
  expect_error(error_of([&] { (void)bytes_read(*both, 7); }), ErrorCode::kData, "",
               {the_file().string(), "item 7 is damaged, and cannot be read from the input anew: is damaged"});
  input.tells_columns = false;
  EXPECT_EQ(ability<Columns>(*both)->column("label"), std::nullopt);
}

TEST_F(Cache, MemoryAndFileHandlesThatRunOutEndItAndNothingStays) {
  for (const ErrorCode code : {ErrorCode::kMemory, ErrorCode::kStorage}) {
    Counting input(200);
    input.on_read = [&](int64_t index) {
      if (index == 150 || index == 70) throw Error(code, "there is no more of it");
    };
    for (const Json& params : {Json{{"fill", "start"}}, in_file()}) {
      expect_error(error_of([&] { (void)opened_over("cache", params, {&input}); }), code, "",
                   {"sample 70 of the input: there is no more of it"});
    }
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(Cache, FillsOnTheCoresThatItMayHaveAlone) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  Counting input(200);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  input.on_read = [&](int64_t) {
    const std::scoped_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
    std::this_thread::yield();
  };
  (void)opened_over("cache", {{"fill", "start"}}, {&input});
  ASSERT_EQ(::sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST_F(Cache, FilesOfWhichHeaderOrIndexIsDamagedAreMadeAnewAndThatIsSaid) {
  Counting input(100, 0, true);
  const auto first = opened_over("cache", in_file(), {&input});
  EXPECT_TRUE(told_by(*first).empty());
  const std::filesystem::path file = the_file();
  const std::string whole = core::content_of(file);
  std::vector<std::string> wrong{"", "something else", whole.substr(0, whole.size() - 8), whole + "more"};
  for (const std::size_t at : {std::size_t{3}, std::size_t{10}, std::size_t{60}, whole.size() - 9}) {
    wrong.push_back(flipped(whole, at));
  }
  for (const std::string& content : wrong) {
    put(file, content);
    const auto cached = opened_over("cache", in_file(), {&input});
    expect_told(*cached, {file.string(), "was damaged, or of another version, and was made anew"});
    expect_same(*cached, input);
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

TEST_F(Cache, AnyByteOfARecordThatChangesIsFoundAtTheFirstTouchAndPutBack) {
  for (const bool with_text : {false, true}) {
    Counting input(40, with_text ? 1000 : 0, with_text);
    (void)opened_over("cache", in_file(), {&input});
    const std::filesystem::path file = the_file();
    const std::string whole = core::content_of(file);
    const std::size_t begin = whole.find(bytes_of<int64_t>({2}));  // the size of x's axis in the first record
    const std::size_t end = begin + 40 * (with_text ? std::size_t{32} : std::size_t{24});
    ASSERT_LT(end, whole.size());
    for (std::size_t at = begin; at < end; at += 31) {
      SCOPED_TRACE(at);
      put(file, flipped(whole, at));
      const auto cached = opened_over("cache", in_file(), {&input});
      if (at % 2 == 0 && !with_text) expect_views(*cached);
      expect_same(*cached, input);
      expect_told(*cached, {file.string(), "1 item was damaged and was read anew"});
      EXPECT_EQ(core::content_of(file), whole);
    }
    std::filesystem::remove(file);
  }
}

TEST_F(Cache, DamageIsKeptOutWhereTheFileCannotBeMendedAndWhereItIsOfOtherDataByNow) {
  for (const bool with_text : {false, true}) {
    Counting input(100, with_text ? 1000 : 0, with_text);
    (void)opened_over("cache", in_file(), {&input});
    const std::filesystem::path file = the_file();
    const std::string whole = core::content_of(file);
    put(file, flipped(whole, whole.find(bytes_of<int64_t>({2})) + 9));  // x of item 0
    const auto cached = opened_over("cache", in_file(), {&input});
    std::filesystem::remove(file);
    expect_same(*cached, input);
    if (!with_text) expect_views(*cached);

    put(file, flipped(whole, whole.find(bytes_of<int64_t>({2})) + 9));
    const auto other = opened_over("cache", in_file(), {&input});
    input.change(0);
    expect_error(error_of([&] { (void)bytes_read(*other, 0); }), ErrorCode::kData, "/path",
                 {file.string(), "item 0 is damaged, and the input gives another one", "remove the file"});
    if (!with_text) {
      std::vector<const std::byte*> fields(2, reinterpret_cast<const std::byte*>(whole.data()));
      ability<InMemory>(*other)->view(0, fields);
      EXPECT_EQ(fields, (std::vector<const std::byte*>{nullptr, nullptr}));
    }
    EXPECT_EQ(bytes_read(*other, 1), bytes_read(input, 1));
    std::filesystem::remove(file);
  }
}

TEST_F(Cache, AFileOfOtherDataOfTheSameFingerprintIsMadeAnew) {
  for (const int64_t items : {20, 100}) {
    Counting input(items);
    Counting other(items);
    for (int64_t i = 0; i < items; ++i) other.change(i);
    ASSERT_EQ(input.fingerprint(), other.fingerprint());
    const auto first = opened_over("cache", in_file(), {&input});
    const auto second = opened_over("cache", in_file(), {&other});
    expect_told(*second, {the_file(), "held other samples than the input gives, such as item ", "made anew"});
    expect_same(*second, other);
    expect_same(*first, input);  // whoever has the older file keeps it
    const auto third = opened_over("cache", in_file(), {&other});
    EXPECT_TRUE(told_by(*third).empty());
    expect_same(*third, other);
    std::filesystem::remove(the_file());
  }
}

TEST_F(Cache, FoldersOfEqualNamesAndSizesAndOtherPixelsAreNotMixedUp) {
  for (const std::string folder : {"raw", "denoised"}) {
    for (const std::string name : {"a", "b", "c"}) {
      const std::string pixels(16, folder == "raw" ? name[0] : static_cast<char>(name[0] + 50));
      put(folder_ / folder / "one" / (name + ".pgm"), "P5 4 4 255\n" + pixels);
    }
    const auto images = make<Dataset>("tenon_image_datasets", "image_folder", Json{{"path", folder_ / folder}}.dump());
    images->open({});
    expect_same(*opened_over("cache", in_file(), {images.get()}), *images);
  }
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
  EXPECT_EQ(both.reads, 64 + 3 * kCompared);
  EXPECT_EQ(files().size(), 1U);
  input.on_read = nullptr;
  expect_same(*cached, input);
}

TEST_F(Cache, ProcessesThatFindDamageAtOnceAllReadTheRightBytes) {
  Counting input(200, 0, true);
  (void)opened_over("cache", in_file(), {&input});
  const std::filesystem::path file = the_file();
  const std::string whole = core::content_of(file);
  std::string damaged = whole;
  for (std::size_t at = whole.find(bytes_of<int64_t>({2})); at < whole.size() / 2; at += 7) damaged[at] = '\x5A';
  put(file, damaged);
  const auto read_it = [&] {
    const auto cached = opened_over("cache", in_file(), {&input});
    for (int64_t i = 0; i < 200; ++i) {
      if (bytes_read(*cached, i) != bytes_read(input, i)) throw std::runtime_error("wrong");
    }
  };
  std::vector<pid_t> children;
  children.reserve(3);
  for (int i = 0; i < 3; ++i) children.push_back(in_child(read_it));
  read_it();
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(core::content_of(file), whole);
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
  EXPECT_EQ(both.reads, kCompared);
  input.on_read = nullptr;
  expect_same(*cached, input);
}

}  // namespace
}  // namespace tenon::test
