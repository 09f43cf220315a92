// What images need of the machine and of the process, and what they leave to others.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <plugins/image_datasets/images.hpp>

namespace tenon::test {
namespace {

namespace fs = std::filesystem;

/// While it lives, the process can open so many files more.
class FilesLeft {
 public:
  explicit FilesLeft(rlim_t count) {
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit less{static_cast<rlim_t>(next) + count, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &less);
  }
  FilesLeft(const FilesLeft&) = delete;
  FilesLeft& operator=(const FilesLeft&) = delete;
  ~FilesLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class Shortage : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const { put(root_ / name, content); }
  [[nodiscard]] Json folder_params() const { return {{"path", root_.string()}, {"labels", false}}; }

  TemporaryFolder folder_;
  fs::path root_ = folder_ / "images";
};

/// A tar archive of a file in a header of old.
std::string tar(const std::string& name, const std::string& content) {
  std::string header = name + std::string(512 - name.size(), '\0');
  const auto octal = [&](std::size_t at, std::size_t digits, std::size_t number) {
    for (std::size_t i = digits; i-- > 0; number /= 8) header[at + i] = static_cast<char>('0' + number % 8);
  };
  octal(124, 11, content.size());
  header.replace(148, 8, 8, ' ');
  std::size_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  octal(148, 6, sum);
  return header + content + std::string(512 - content.size() % 512 + 1024, '\0');
}

/// More shards than are kept open.
TEST_F(Shortage, OfFileHandlesIsNotTheFaultOfAShard) {
  constexpr int kShards = 257;
  for (int i = 0; i < kShards; ++i) {
    write("s-" + std::to_string(i) + ".tar", tar("a.pgm", slope(2, 2)));
  }
  const Json params{{"paths", {(root_ / "s-*.tar").string()}},
                    {"color", "grey"},
                    {"fields", {{{"name", "image"}, {"type", "image"}, {"extensions", {"pgm"}}}}}};
  const auto dataset = images_opened("tar_shards", params);
  std::optional<Error> refused;
  {
    const FilesLeft none(0);
    refused = unreadable(*dataset, 7);
  }
  EXPECT_EQ(refused->code(), ErrorCode::kStorage) << refused->what();
  EXPECT_NE(std::string(refused->what()).find("ulimit -n"), std::string::npos) << refused->what();
  EXPECT_EQ(field_of<uint8_t>(*dataset, 7, "image").size(), 4U);
}

TEST_F(Shortage, OfFileHandlesIsNotTheFaultOfAFolder) {
  write("a.pgm", slope(2, 2));
  const auto dataset = images_made("image_folder", folder_params());
  for (const rlim_t left : {rlim_t{0}, rlim_t{1}}) {  // with one the names can be listed, and no file looked at
    std::optional<Error> refused;
    {
      const FilesLeft few(left);
      refused = error_of([&] { dataset->open({}); });
    }
    EXPECT_EQ(refused->code(), ErrorCode::kStorage) << left << ": " << refused->what();
    EXPECT_NE(std::string(refused->what()).find(root_.string()), std::string::npos) << refused->what();
  }
}

/// The same files give the same fingerprint, although one cannot be looked at by anyone.
TEST_F(Shortage, AFileThatIsNotThereStillCounts) {
  write("a.pgm", slope(2, 2));
  fs::create_symlink(root_ / "gone", root_ / "b.pgm");
  const std::string first = images_opened("image_folder", folder_params())->fingerprint();
  EXPECT_EQ(images_opened("image_folder", folder_params())->fingerprint(), first);
  fs::remove(root_ / "b.pgm");
  write("b.pgm", slope(2, 2));
  EXPECT_NE(images_opened("image_folder", folder_params())->fingerprint(), first);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Memory for a thread's stack cannot be had, which the system tells as it does of a limit on threads.
TEST_F(Shortage, OfThreadsLeavesTheWorkToThoseThatThereAre) {
  for (int i = 0; i < 100; ++i) write(std::to_string(i) + ".pgm", slope(2, 2));
  const std::string wanted = images_opened("image_folder", folder_params())->fingerprint();
  const auto dataset = images_made("image_folder", folder_params());
  // Stacks of threads that have ended are kept and would be used again.
  std::atomic<bool> done{false};
  std::vector<std::jthread> holders;
  for (int i = 0; i < 10; ++i) holders.emplace_back([&] { done.wait(false); });
  rlimit before{};
  EXPECT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  std::istringstream pages([] {
    std::ifstream file("/proc/self/statm");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }());
  rlim_t taken = 0;
  pages >> taken;
  const rlimit less{taken * static_cast<rlim_t>(::getpagesize()) + (rlim_t{4} << 20U), before.rlim_max};
  EXPECT_EQ(::setrlimit(RLIMIT_AS, &less), 0);
  std::string refused;
  try {
    dataset->open({});
  } catch (const std::exception& error) {
    refused = error.what();
  }
  EXPECT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  done = true;
  done.notify_all();
  EXPECT_EQ(refused, "");
  EXPECT_EQ(dataset->fingerprint(), wanted);
}
#endif

/// A function of a library that is in the process already, or nullptr.
template <class Function>
Function* function_of(const std::string& library, const char* name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos || fs::path(line.substr(slash)).filename().string().rfind(library, 0) != 0) continue;
    void* const there = ::dlopen(line.substr(slash).c_str(), RTLD_LAZY | RTLD_NOLOAD);
    return there == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(there, name));
  }
  return nullptr;
}

/// A TIFF file of 2 x 2 greys whose only strip is damaged, packed by LZW.
std::string damaged_tiff() {
  std::string file("II*\0\x0C\0\0\0\xFF\xFF\xFF\xFF", 12);
  const auto number = [&](uint32_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) file += static_cast<char>(value >> 8 * i & 0xFFU);
  };
  const std::vector<std::pair<uint32_t, uint32_t>> tags{{256, 2}, {257, 2}, {258, 8}, {259, 5}, {262, 1},
                                                        {273, 8}, {277, 1}, {278, 2}, {279, 4}};
  number(static_cast<uint32_t>(tags.size()), 2);
  for (const auto& [tag, value] : tags) {
    number(tag, 2);
    number(4, 2);
    number(1, 4);
    number(value, 4);
  }
  number(0, 4);
  return file;
}

using TiffHandler = void (*)(void*, const char*, const char*, std::va_list);
int heard_by_another = 0;
void another_handler(void* /*file*/, const char* /*module*/, const char* /*format*/, std::va_list /*rest*/) {
  ++heard_by_another;
}

/// Who else uses libtiff in the process keeps its handler of errors, whichever came first.
TEST_F(Shortage, HandlersOfOthersStayWhereTheyAre) {
  write("a.tif", damaged_tiff());
  const auto dataset = images_opened("image_folder", folder_params());
  auto* const set = function_of<TiffHandler(TiffHandler)>("libtiff.so", "TIFFSetErrorHandlerExt");
  if (set == nullptr) GTEST_SKIP() << "libtiff is no library of its own here";
  const auto says = [&] { return std::string(unreadable(*dataset, 0).what()); };
  EXPECT_NE(says().find("libtiff says"), std::string::npos) << says();
  const TiffHandler before = set(another_handler);
  EXPECT_NE(says().find("libtiff says"), std::string::npos) << says();
  EXPECT_EQ(heard_by_another, 0);
  EXPECT_EQ(set(before), another_handler);
}

TEST_F(Shortage, TheWordsOfOpenCvStayAsLoudAsTheyWere) {
  write("a.tif", damaged_tiff());
  const auto dataset = images_opened("image_folder", folder_params());
  auto* const level = function_of<int()>("libopencv_core.so", "_ZN2cv5utils7logging11getLogLevelEv");
  auto* const set = function_of<int(int)>("libopencv_core.so", "_ZN2cv5utils7logging11setLogLevelENS1_8LogLevelE");
  if (level == nullptr || set == nullptr) GTEST_SKIP() << "OpenCV is no library of its own here";
  constexpr int kInfo = 4;
  const int before = set(kInfo);
  (void)unreadable(*dataset, 0);
  EXPECT_EQ(level(), kInfo);
  set(before);
}

}  // namespace
}  // namespace tenon::test
