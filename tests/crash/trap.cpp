// Each fault as it happens to people, kept from the optimizer.
#include <trap.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace crashing {
namespace {

/// A value that the compiler does not know.
template <class T>
T unknown(T value) {
  T volatile hidden = value;
  return hidden;  // NOLINT(clang-analyzer-unix.Malloc): of a number
}

[[gnu::noinline]] void read_at(uintptr_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  static_cast<void>(*reinterpret_cast<const volatile int*>(unknown(address)));
}

[[gnu::noinline]] int descend(int depth) {
  std::array<volatile char, 512> room{};
  room[static_cast<std::size_t>(depth) % room.size()] = 1;
  return depth < 0 ? 0 : descend(depth + 1) + room[0];
}

[[gnu::noinline]] void throw_something() { throw std::runtime_error("the sensor\nis gone"); }

[[gnu::noinline]] void promise_nothing_is_thrown() noexcept { throw_something(); }

void read_behind_the_end_of_a_file() {
  std::FILE* const file = std::tmpfile();
  const int descriptor = fileno(file);
  if (ftruncate(descriptor, 4096) != 0) return;
  void* const mapped = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, descriptor, 0);
  if (ftruncate(descriptor, 0) != 0) return;
  read_at(reinterpret_cast<uintptr_t>(mapped));
}

void free_twice() {
  const auto address = reinterpret_cast<uintptr_t>(std::malloc(64));
  // NOLINTNEXTLINE(performance-no-int-to-ptr, clang-analyzer-unix.Malloc): it is what this is about
  for (int i = 0; i < 2; ++i) std::free(reinterpret_cast<void*>(unknown(address)));
}

void copy_from_nowhere() {
  std::array<char, 64> room{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  std::memcpy(room.data(), reinterpret_cast<const void*>(unknown(uintptr_t{0x40})), unknown(room.size()));
  static_cast<void>(unknown(room[unknown(std::size_t{0})]));
}

/// Leaves no stack to unwind: return addresses and frame pointers above are overwritten.
[[gnu::noinline]] void destroy_the_stack() {
  std::array<volatile uintptr_t, 8> room{};
  auto* const begin = unknown(const_cast<uintptr_t*>(room.data()));
  for (std::size_t i = 0; i < 512; ++i) begin[i] = 0x4141414141414141;
  read_at(8);
}

void commit(Fault fault) {
  switch (fault) {
    case Fault::kNull: return read_at(0x10);
    case Fault::kWild: return read_at(0x4141414141414141);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    case Fault::kCall: return reinterpret_cast<void (*)()>(unknown(uintptr_t{0}))();
    case Fault::kAbort: std::abort();
    case Fault::kHeap: return free_twice();
    case Fault::kDivide: static_cast<void>(unknown(unknown(7) / unknown(0))); return;
    case Fault::kIllegal: __builtin_trap();
    case Fault::kShortened: return read_behind_the_end_of_a_file();
    case Fault::kOverflow: static_cast<void>(unknown(descend(0))); return;
    case Fault::kCopy: return copy_from_nowhere();
    case Fault::kTerminate: return std::thread(throw_something).join();
    case Fault::kNoexcept: return promise_nothing_is_thrown();
    case Fault::kForeign: throw 42;
    case Fault::kCorrupt: return destroy_the_stack();
    case Fault::kExit: std::exit(0);
  }
}

bool switched_off() {
  const char* const said = std::getenv("TENON_TESTS_CRASHING");
  return said != nullptr && std::string_view(said) == "off";
}

}  // namespace

void Trap::spring(std::string_view method, int64_t sample) const {
  if (params_.in != method || (params_.sample >= 0 && sample != params_.sample)) return;
  if (calls_++ < params_.after || switched_off()) return;
  commit(params_.fault);
}

}  // namespace crashing
