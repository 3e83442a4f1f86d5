#include "gpu_worker/device/emulated/device.h"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "gpu_worker/device/emulated/division.h"

__attribute__((used)) warpsmith_emulated::Device warpsmith_device = {};

namespace warpsmith::device {
namespace {

constexpr size_t kSignalStackBytes = 64u << 10;

Scheduler* scheduler = nullptr;
FaultHandler fault_handler = nullptr;

[[noreturn]] void Report(FaultKind kind, const char* message) {
  if (fault_handler != nullptr) fault_handler(kind, message);
  std::_Exit(1);
}

// The device works inside a kernel only; a constructor that calls it is stopped.
Scheduler& Running() {
  if (scheduler == nullptr) Report(FaultKind::kLaunchError, "device code ran outside a kernel");
  return *scheduler;
}

unsigned Barrier(unsigned kind, unsigned predicate) { return Running().Barrier(kind, predicate); }
unsigned long long Warp(unsigned operation, unsigned mask, unsigned long long value, unsigned operand, unsigned width) {
  return Running().WarpOperation(LaneRequest{operation, mask, value, operand, width});
}
void GridBarrier() { Running().GridBarrier(); }
void Yield() { Running().Yield(); }

void Fail(unsigned reason, const char* what, const char* file, unsigned line) {
  FaultKind kind = FaultKind::kLaunchError;
  const char* prefix = "";
  switch (reason) {
    case warpsmith_emulated::kFailureAssert:
      prefix = "assertion failed: ";
      break;
    case warpsmith_emulated::kFailureMisaligned:
      kind = FaultKind::kIllegalAccess;
      break;
    case warpsmith_emulated::kFailureShift:
    case warpsmith_emulated::kFailureFloatToInteger:
      kind = FaultKind::kNeedsGpu;
      prefix = "the emulated device cannot give a GPU's value for ";
      break;
    default:
      break;
  }
  const uint3& thread = warpsmith_device.thread_index;
  const uint3& block = warpsmith_device.block_index;
  char message[768];
  std::snprintf(message, sizeof message, "%s%.300s (%.100s:%u) in block (%u, %u, %u), thread (%u, %u, %u)", prefix,
                what, file, line, block.x, block.y, block.z, thread.x, thread.y, thread.z);
  Report(kind, message);
}

int Print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int result = Printed().Print(format, arguments);
  va_end(arguments);
  return result;
}
void* Allocate(unsigned long bytes) { return Heap().Allocate(bytes); }
void Release(void* pointer) { Heap().Release(pointer); }
unsigned long long Nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<unsigned long long>(now.tv_sec) * 1000000000u + static_cast<unsigned long long>(now.tv_nsec);
}

void OnSignal(int signal, siginfo_t* information, void* context) {
  if (signal == SIGFPE && EmulateDivision(static_cast<ucontext_t*>(context))) return;
  const uint3& thread = warpsmith_device.thread_index;
  const uint3& block = warpsmith_device.block_index;
  char message[256];
  bool access = signal == SIGSEGV || signal == SIGBUS;
  const char* what = access              ? "access to an address that is not mapped"
                     : signal == SIGABRT ? "the kernel called abort"
                     : signal == SIGFPE  ? "arithmetic exception"
                                         : "illegal instruction";
  if (scheduler == nullptr) {
    std::snprintf(message, sizeof message, "%s while the module was loaded", what);
  } else {
    std::snprintf(message, sizeof message, "%s%s in block (%u, %u, %u), thread (%u, %u, %u)", what,
                  access && information->si_addr == nullptr ? " (null or not canonical)" : "", block.x, block.y,
                  block.z, thread.x, thread.y, thread.z);
  }
  Report(access ? FaultKind::kIllegalAccess : FaultKind::kLaunchError, message);
}

}  // namespace

void StartDevice(FaultHandler handler) {
  fault_handler = handler;
  warpsmith_device.barrier = Barrier;
  warpsmith_device.warp = Warp;
  warpsmith_device.grid_barrier = GridBarrier;
  warpsmith_device.yield = Yield;
  warpsmith_device.fail = Fail;
  warpsmith_device.print = Print;
  warpsmith_device.allocate = Allocate;
  warpsmith_device.release = Release;
  warpsmith_device.nanoseconds = Nanoseconds;

  void* memory = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kSignalStackBytes;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
}

void SetScheduler(Scheduler* running) { scheduler = running; }

DeviceHeap& Heap() {
  static DeviceHeap heap;
  return heap;
}

PrintBuffer& Printed() {
  static PrintBuffer buffer;
  return buffer;
}

}  // namespace warpsmith::device
