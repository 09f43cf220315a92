// Affinity, control groups and priority under Linux.
#include <engine/data/machine.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include <fmt/format.h>

namespace tenon::engine {
namespace {

namespace fs = std::filesystem;

constexpr int kNice = 2;

std::string content_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::optional<double> share(const std::string& quota, const std::string& period) {
  std::istringstream text(quota + " " + period);
  double most = 0;
  double of = 0;
  if (!(text >> most >> of) || most <= 0 || of <= 0) return std::nullopt;  // "max", or -1: none
  return most / of;
}

/// "max 100000", or "150000 100000": one and a half cores.
std::optional<double> quota_of_2(const fs::path& group) { return share(content_of(group / "cpu.max"), ""); }

std::optional<double> quota_of_1(const fs::path& group) {
  return share(content_of(group / "cpu.cfs_quota_us"), content_of(group / "cpu.cfs_period_us"));
}

/// The least quota of a group and those above it, up to where they are mounted. Within a container the path may be the
/// outer one, which is not there.
template <class Quota>
std::optional<double> least(const fs::path& mount, std::string path, const Quota& quota) {
  std::optional<double> found;
  while (true) {
    const std::optional<double> here = quota(mount / fs::path(path).relative_path());
    if (here) found = std::min(*here, found.value_or(*here));
    if (path.empty() || path == "/") return found;
    path = fs::path(path).parent_path().string();
  }
}

int affine_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return static_cast<int>(std::thread::hardware_concurrency());
  return CPU_COUNT(&set);
}

}  // namespace

std::optional<double> cpu_quota(const fs::path& root, std::string_view membership) {
  std::optional<double> found;
  std::istringstream lines{std::string(membership)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    std::optional<double> quota;
    if (controllers.empty()) {
      quota = least(root, path, quota_of_2);
    } else if (fmt::format(",{},", controllers).find(",cpu,") != std::string::npos) {
      quota = least(root / controllers, path, quota_of_1);
      if (!quota) quota = least(root / "cpu", path, quota_of_1);
    }
    if (quota) found = std::min(*quota, found.value_or(*quota));
  }
  return found;
}

int usable_cores() {
  const int cores = std::max(affine_cores(), 1);
  const std::optional<double> quota = cpu_quota("/sys/fs/cgroup", content_of("/proc/self/cgroup"));
  return quota ? std::clamp(static_cast<int>(std::ceil(std::min(*quota, 1e6))), 1, cores) : cores;
}

int64_t peak_memory() {
  // Not ru_maxrss of getrusage(), which begins with what the program had that started this one.
  std::istringstream lines(content_of("/proc/self/status"));
  for (std::string name; lines >> name; std::getline(lines, name)) {
    int64_t kilobytes = 0;
    if (name == "VmHWM:" && lines >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

void give_way() noexcept {
  const auto self = static_cast<id_t>(gettid());  // under Linux a priority belongs to a thread
  static_cast<void>(setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + kNice));
}

}  // namespace tenon::engine
