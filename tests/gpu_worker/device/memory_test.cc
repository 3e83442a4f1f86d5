// The heap, printing, shared memory, and divisions that the processor refuses.
#include <signal.h>
#include <ucontext.h>

#include <catch2/catch.hpp>
#include <cstdarg>
#include <cstring>
#include <set>

#include "gpu_worker/device/emulated/device_heap.h"
#include "gpu_worker/device/emulated/division.h"
#include "gpu_worker/device/emulated/print_buffer.h"
#include "gpu_worker/device/emulated/shared_memory.h"

namespace warpsmith::device {
namespace {

TEST_CASE("the heap hands out distinct, aligned memory, takes it back, and ends") {
  DeviceHeap heap;
  std::set<void*> pointers;
  for (int i = 0; i < 100; ++i) {
    auto* p = static_cast<char*>(heap.Allocate(100));
    REQUIRE(p != nullptr);
    REQUIRE(reinterpret_cast<uintptr_t>(p) % 16 == 0);
    std::memset(p, i, 100);
    pointers.insert(p);
  }
  REQUIRE(pointers.size() == 100);
  void* last = heap.Allocate(60);
  heap.Release(last);
  REQUIRE(heap.Allocate(50) == last);
  heap.Release(last);
  heap.Release(last);  // twice, and what was never handed out
  REQUIRE(heap.Allocate(50) == last);
  REQUIRE(heap.Allocate(50) != last);
  heap.Release(nullptr);
  heap.Release(&heap);
  heap.Release(static_cast<char*>(last) + 1);
  REQUIRE(heap.Allocate(DeviceHeap::kBytes + 1) == nullptr);
  REQUIRE(heap.Allocate(0) == nullptr);
  heap.Clear();
  int made = 0;
  while (heap.Allocate(1 << 16) != nullptr) ++made;
  REQUIRE(made == 127);
}

int PrintTo(PrintBuffer& buffer, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int result = buffer.Print(format, arguments);
  va_end(arguments);
  return result;
}

TEST_CASE("printing keeps what comes first") {
  PrintBuffer buffer;
  REQUIRE(PrintTo(buffer, "%d %s\n", 7, "x") == 4);
  REQUIRE(std::string(buffer.text()) == "7 x\n");
  for (int i = 0; i < 1000; ++i) PrintTo(buffer, "0123456789");
  REQUIRE(buffer.size() == PrintBuffer::kBytes);
  REQUIRE(std::strlen(buffer.text()) == PrintBuffer::kBytes);
  REQUIRE(buffer.dropped() > 0);
  buffer.Clear();
  REQUIRE(std::string(buffer.text()).empty());
}

TEST_CASE("shared memory is filled, kept aside and put back") {
  auto memory = SharedMemory::Create(100, 16, 5000);
  REQUIRE(memory.ok());
  (*memory)->Resize(200);
  REQUIRE(reinterpret_cast<uintptr_t>((*memory)->static_memory()) % 128 == 0);
  REQUIRE(reinterpret_cast<uintptr_t>((*memory)->dynamic_memory()) % 128 == 0);
  (*memory)->Fill(0x01020304);
  auto word = [&](char* at) {
    uint32_t value;
    std::memcpy(&value, at, 4);
    return value;
  };
  REQUIRE(word((*memory)->static_memory()) == 0x01020304);
  REQUIRE(word((*memory)->dynamic_memory() + 196) == 0x01020304);
  std::vector<char> kept;
  (*memory)->Save(kept);
  (*memory)->Fill(9);
  (*memory)->Restore(kept);
  REQUIRE(word((*memory)->dynamic_memory()) == 0x01020304);
}

void OnTrap(int, siginfo_t*, void* context) {
  if (!EmulateDivision(static_cast<ucontext_t*>(context))) _exit(9);
}

// Kept from the compiler, which would fold them or leave them out.
template <typename T>
__attribute__((noinline)) T Quotient(const T* a, const T* b, size_t i) {
  volatile T divisor = b[i];
  return static_cast<T>(a[i] / divisor);
}
template <typename T>
__attribute__((noinline)) T Rest(T a, T b) {
  volatile T divisor = b;
  return static_cast<T>(a % divisor);
}

TEST_CASE("divisions that the processor refuses give a GPU's values") {
  struct sigaction action = {}, before = {};
  action.sa_sigaction = OnTrap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGFPE, &action, &before);
  const int a[3] = {7, -7, INT32_MIN}, b[3] = {0, 0, -1};
  REQUIRE(Quotient(a, b, 0) == -1);
  REQUIRE(Quotient(a, b, 1) == -1);
  REQUIRE(Quotient(a, b, 2) == INT32_MIN);
  REQUIRE(Rest(7, 0) == 7);
  REQUIRE(Rest(-7, 0) == -7);
  REQUIRE(Rest(INT32_MIN, -1) == 0);
  const unsigned ua[1] = {7}, ub[1] = {0};
  REQUIRE(Quotient(ua, ub, 0) == ~0u);
  const int64_t wide[2] = {7, -7}, zero[2] = {0, 0};
  REQUIRE(Quotient(wide, zero, 0) == 0xffffffff);
  REQUIRE(Quotient(wide, zero, 1) == -1);
  REQUIRE(Rest(int64_t{1} << 40, int64_t{0}) == int64_t{1} << 40);
  REQUIRE(Rest(INT64_MIN, int64_t{-1}) == 0);
  REQUIRE(Rest(uint64_t{9}, uint64_t{0}) == 9);
  sigaction(SIGFPE, &before, nullptr);
}

}  // namespace
}  // namespace warpsmith::device
