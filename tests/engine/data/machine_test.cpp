// Cores by affinity and control groups.
#include <engine/data/machine.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::engine {
namespace {

namespace fs = std::filesystem;

/// A tree of control groups in files.
class CpuQuota : public testing::Test {
 protected:
  CpuQuota() : root_(fs::temp_directory_path() / ("tenon_cgroup_" + std::to_string(getpid()))) {}
  ~CpuQuota() override { fs::remove_all(root_); }

  void put(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  fs::path root_;
};

TEST_F(CpuQuota, IsTheLeastOfAGroupAndThoseAboveIt) {
  put("a/cpu.max", "250000 100000\n");
  put("a/b/cpu.max", "max 100000\n");
  put("a/b/c/cpu.max", "400000 100000\n");
  EXPECT_EQ(cpu_quota(root_, "0::/a/b/c\n"), 2.5);
  EXPECT_EQ(cpu_quota(root_, "0::/\n"), std::nullopt);
  put("cpu.max", "50000 100000\n");
  EXPECT_EQ(cpu_quota(root_, "0::/\n"), 0.5);
  EXPECT_EQ(cpu_quota(root_, "0::/not/seen/in/this/container\n"), 0.5);
}

TEST_F(CpuQuota, IsReadFromTheFirstVersionToo) {
  const std::string membership = "5:memory:/x\n4:cpu,cpuacct:/job\n0::/\n";
  put("cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  put("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root_, membership), 3.0);
  put("cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cpu_quota(root_, membership), std::nullopt);
  put("cpu/job/cpu.cfs_quota_us", "150000\n");
  put("cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root_, membership), 1.5) << "mounted under its own name alone";
}

TEST_F(CpuQuota, IsNoneForTextThatIsNoQuota) {
  for (const char* const text : {"", "max", "0 100000", "-5 100000", "many 100000", "100000 0", "100000"}) {
    put("cpu.max", text);
    EXPECT_EQ(cpu_quota(root_, "0::/\n"), std::nullopt) << text;
  }
  EXPECT_EQ(cpu_quota(root_, "nonsense\n:\n\n"), std::nullopt);
}

TEST(UsableCores, AreNoMoreThanTheAffinityMaskHas) {
  int cores = 0;
  std::thread([&] {
    cpu_set_t all;
    CPU_ZERO(&all);
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    cores = usable_cores();
  }).join();
  EXPECT_EQ(cores, 1);
  EXPECT_GE(usable_cores(), 1);
}

TEST(GiveWay, LowersThePriorityOfItsOwnThreadAlone) {
  int before = 0;
  int after = 0;
  std::thread([&] {
    const auto self = static_cast<id_t>(gettid());
    before = getpriority(PRIO_PROCESS, self);
    give_way();
    after = getpriority(PRIO_PROCESS, self);
  }).join();
  EXPECT_EQ(after, std::min(before + 2, 19));
  EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())), before);
}

TEST(PeakMemory, GrowsWithWhatIsTouchedAndDoesNotShrink) {
  constexpr int64_t kMore = 64 << 20;
  const int64_t before = peak_memory();
  EXPECT_GT(before, 1 << 20);
  {
    std::vector<char> block(static_cast<std::size_t>(before) + kMore);
    for (std::size_t at = 0; at < block.size(); at += 4096) block[at] = 1;
    EXPECT_EQ(block[4096], 1);
  }
  const int64_t after = peak_memory();
  EXPECT_GE(after, before + kMore) << "the block alone is so much larger";
  EXPECT_GE(peak_memory(), after);
}

}  // namespace
}  // namespace tenon::engine
