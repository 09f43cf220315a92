// What belongs to the program stays as it was.
#include <embed/fixture.hpp>

#include <fcntl.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <array>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <csignal>
#include <exception>
#include <locale>
#include <sstream>
#include <thread>

#include <process_use.hpp>
#include <tenon/components/dataset.hpp>

namespace tenon::kernel {
namespace {

constexpr int kRestorer = 0x04000000;  // the C library's own, from the first call of sigaction on

using Facts = std::map<std::string, std::string>;

/// A line for each thing that a library may not change.
Facts process_now() {
  Facts facts;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    std::ostringstream text;
    text << reinterpret_cast<const void*>(action.sa_handler) << ' ' << (action.sa_flags & ~kRestorer);
    for (int other = 1; other < NSIG; ++other) text << ' ' << sigismember(&action.sa_mask, other);
    facts["signal " + std::to_string(number)] = text.str();
  }
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (int number = 1; number < NSIG; ++number) {
    facts["blocked"] += std::to_string(sigismember(&blocked, number));
  }
  stack_t stack = {};
  ::sigaltstack(nullptr, &stack);
  facts["signal stack"] = std::to_string(stack.ss_flags);
  for (char** each = environ; *each != nullptr; ++each) facts["environment"] += std::string(*each) + '\n';
  facts["folder"] = std::filesystem::current_path().string();
  facts["C locale"] = std::setlocale(LC_ALL, nullptr);
  facts["C++ locale"] = std::locale().name();
  facts["rounding"] = std::to_string(std::fegetround());
#if defined(__SSE__)
  facts["MXCSR"] = std::to_string(_mm_getcsr() & ~0x3FU);  // but for what has happened
#endif
  std::ostringstream terminate;
  terminate << reinterpret_cast<const void*>(std::get_terminate());
  facts["terminate"] = terminate.str();
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Umask:") || line.starts_with("Threads:")) facts["status"] += line + '\n';
  }
  return facts;
}

/// Names of what is no longer as it was.
std::vector<std::string> changed_since(const Facts& before) {
  std::vector<std::string> changed;
  const Facts now = process_now();
  for (const auto& [name, value] : before) {
    if (now.at(name) != value) changed.push_back(name);
  }
  return changed;
}

/// Whether it holds within three seconds: a thread that has ended is not gone at once, and nobody waits for libgomp's.
template <class Predicate>
bool soon(const Predicate& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

/// Standard output and error into a file, while it lives.
class Caught {
 public:
  explicit Caught(const std::filesystem::path& file) : file_(file) {
    const int caught = ::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    for (const int stream : {1, 2}) {
      kept_[static_cast<std::size_t>(stream - 1)] = ::dup(stream);
      ::dup2(caught, stream);
    }
    ::close(caught);
  }
  Caught(const Caught&) = delete;
  Caught& operator=(const Caught&) = delete;
  ~Caught() {
    std::fflush(nullptr);
    for (const int stream : {1, 2}) {
      ::dup2(kept_[static_cast<std::size_t>(stream - 1)], stream);
      ::close(kept_[static_cast<std::size_t>(stream - 1)]);
    }
  }

 private:
  std::filesystem::path file_;
  std::array<int, 2> kept_{};
};

/// A crash of the program's own.
class Crashing final : public Dataset {
 public:
  explicit Crashing(const NoParams& /*params*/) {}
  static Ports ports() {
    return {{}, {Port::of("point", {Dtype::kFloat32}, {2}), Port::of("label", {Dtype::kInt64}, {})}};
  }
  [[nodiscard]] Spec spec() const override { return {{"point", Dtype::kFloat32, {2}}, {"label", Dtype::kInt64, {}}}; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return 10; }
  [[nodiscard]] std::string fingerprint() const override { return "none"; }
  void read(int64_t /*index*/, Sample& /*out*/) const override { std::raise(SIGSEGV); }
};

class ProcessTest : public EmbedTest {
 protected:
  /// Trains on a dataset that crashes.
  void crash(bool handle) {
    Components own("org.example.crashing");
    own.add<Crashing>("crashing", "Crashes when it is read");
    RuntimeOptions options;
    options.handle_crashes = handle;
    const Runtime runtime(options, {own});
    static_cast<void>(
        runtime.train(runtime.load(pipeline_file(), into("runs", {R"(nodes.table={"use":"dataset:crashing"})"})),
                      {.preflight = false}));
  }
};

using ProcessDeathTest = ProcessTest;

TEST_F(ProcessTest, TrainingAndPredictingLeaveNothingBehindInTheProcess) {
  const auto before = process_now();
  {
    const Caught streams(folder_ / "caught.txt");
    const Runtime runtime;
    std::vector<std::string> during{"nothing was validated"};
    const Result result =
        runtime.train(runtime.load(pipeline_file(), into("runs")), {.observer = [&](const Event& event) {
                        if (event.kind == Event::Kind::kValidateEnd) during = changed_since(before);
                      }});
    Predictor predictor = runtime.predictor(result.checkpoint, {.fields = kPointField});
    static_cast<void>(predictor.predict({{"point", points_, {2}}}));
    std::erase_if(during, [](const std::string& name) { return name == "status"; });  // it has threads meanwhile
    EXPECT_EQ(during, std::vector<std::string>{}) << "while it trains";
  }
  EXPECT_TRUE(soon([&] { return changed_since(before).empty(); })) << testing::PrintToString(changed_since(before));
  EXPECT_EQ(text_of(folder_ / "caught.txt"), "") << "was written to standard output or error";
}

TEST_F(ProcessTest, ThreadsThatLibtorchStartsEndWithTheCallThatNeededThem) {
  const int before = test::threads_of_process();
  const Runtime runtime;
  int during = 0;
  const std::vector<std::string> two_threads{"run.threads=2", "nodes.net.with.hidden=[1024,1024]",
                                             "nodes.train.with.workers=0", "fit.limit=3", "fit.epochs=1"};
  static_cast<void>(
      runtime.train(runtime.load(pipeline_file(), into("runs", two_threads)), {.observer = [&](const Event& event) {
                      if (event.kind == Event::Kind::kRunEnd) during = test::threads_of_process();
                    }}));
  EXPECT_GE(during, before + 3) << "the kernel's own, the observers' and libtorch's second";
  EXPECT_TRUE(soon([&] { return test::threads_of_process() == before; }))
      << test::threads_of_process() << " threads instead of " << before;
}

TEST_F(ProcessTest, AnErrorLeavesNothingBehindEither) {
  const auto before = process_now();
  {
    const Runtime runtime;
    EXPECT_THROW(static_cast<void>(runtime.train(
                     runtime.load(pipeline_file(), into("runs", {R"(nodes.table.with.path="missing.csv")"})))),
                 Error);
  }
  EXPECT_TRUE(soon([&] { return changed_since(before).empty(); })) << testing::PrintToString(changed_since(before));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(ProcessTest, CrashHandlersComeWhenAskedForAndGoWithTheRuntime) {
  const auto before = process_now();
  {
    RuntimeOptions options;
    options.handle_crashes = true;
    const Runtime runtime(options);
    Facts during = process_now();
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
      const std::string name = "signal " + std::to_string(number);
      EXPECT_NE(during[name], before.at(name));
    }
    EXPECT_NE(during["terminate"], before.at("terminate"));
    EXPECT_EQ(during["signal 2"], before.at("signal 2"));
  }
  EXPECT_TRUE(soon([&] { return changed_since(before).empty(); })) << testing::PrintToString(changed_since(before));
}

TEST_F(ProcessDeathTest, ACrashIsExplainedWhenThatWasAskedForAndLeftToTheProgramOtherwise) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crash(true), testing::ExitedWithCode(3), "org.example.crashing");
  EXPECT_EXIT(crash(false), testing::KilledBySignal(SIGSEGV), "^$");
}
#endif

}  // namespace
}  // namespace tenon::kernel
