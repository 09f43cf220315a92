// What it costs to leave a breadcrumb around a call that does nothing.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include <core/process/breadcrumb.hpp>

namespace {

constexpr int64_t kCalls = 20'000'000;
constexpr int kTries = 5;

[[gnu::noinline]] void nothing(int64_t /*sample*/) { asm volatile("" ::: "memory"); }

template <class Call>
double nanoseconds(const Call& call) {
  double least = 1e9;
  for (int i = 0; i < kTries; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t sample = 0; sample < kCalls; ++sample) call(sample);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / static_cast<double>(kCalls));
  }
  return least;
}

}  // namespace

int main() {
  const tenon::core::Callee& data = tenon::core::callee("org.example.data", "1.0.0", "/d.so", "dataset:x", "data");
  const double bare = nanoseconds([](int64_t sample) { nothing(sample); });
  const double guarded = nanoseconds([&](int64_t sample) {
    const tenon::core::Entered entered(&data, "read", sample);
    nothing(sample);
  });
  std::printf("breadcrumb: %.2f ns a call, %.2f ns with it, so %.2f ns\n", bare, guarded, guarded - bare);
  return 0;
}
