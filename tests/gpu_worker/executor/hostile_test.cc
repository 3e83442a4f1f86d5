// Hostile and broken candidates: each with its outcome, and the next candidate runs as if nothing had been.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/gpu_worker/executor/bench.h"

namespace warpsmith::executor {
namespace {

const std::vector<std::string> kKernels = {"open_passwd",
                                           "open_for_writing",
                                           "fork_it",
                                           "connect_out",
                                           "run_shell",
                                           "kill_parent",
                                           "stop_itself",
                                           "set_alarm",
                                           "sleep_on",
                                           "exit_zero",
                                           "exit_zero_quickly",
                                           "call_abort",
                                           "print_to_output",
                                           "forge_report",
                                           "close_everything",
                                           "ptrace_it",
                                           "loop",
                                           "spin_on_atomic",
                                           "divergent_barrier",
                                           "null_read",
                                           "far_write",
                                           "misaligned",
                                           "one_past",
                                           "shared_past",
                                           "stack_bomb",
                                           "heap_bomb",
                                           "memory_bomb",
                                           "print_flood",
                                           "trap",
                                           "failed_assertion",
                                           "shift",
                                           "convert",
                                           "fine"};

const std::string& Code() {
  static const std::string& code =
      *new std::string(*ReadFile(std::string(WARPSMITH_SOURCE_DIR) + "/tests/gpu_worker/executor/hostile.cu"));
  return code;
}

uint32_t IndexOf(const std::string& kernel) {
  auto found = std::find(kKernels.begin(), kKernels.end(), kernel);
  REQUIRE(found != kKernels.end());
  return static_cast<uint32_t>(found - kKernels.begin());
}

struct Result {
  RunReport report;
  std::vector<int> data;
  bool guards = false;
};

Result Try(const std::string& kernel, uint32_t threads = 1, int first = 0) {
  Bench bench(Code(), kKernels);
  uint32_t x = bench.Add(std::vector<int>(256, first));
  bench.Launch(IndexOf(kernel), 1, threads, {Bench::Tensor(x)}).set_dynamic_shared_bytes(256);
  RunRequest request;
  request.limit_seconds = 1.5;
  Result result;
  result.report = bench.Run(request);
  result.data = bench.Read<int>(x);
  result.guards = bench.GuardsIntact(x);
  if (result.report.outcome != v1::OUTCOME_OK) {
    REQUIRE(bench.Run(request).outcome == result.report.outcome);  // it stays that way
  }
  return result;
}

void RequireNextRuns() {
  Result next = Try("fine");
  INFO(next.report.message);
  REQUIRE(next.report.outcome == v1::OUTCOME_OK);
  REQUIRE(next.data[0] == 7);
}

TEST_CASE("system calls that are not for kernels") {
  for (const char* kernel : {"fork_it", "connect_out", "run_shell", "kill_parent", "set_alarm", "ptrace_it"}) {
    Result result = Try(kernel);
    INFO(kernel << ": " << result.report.message);
    REQUIRE(result.report.outcome == v1::OUTCOME_LAUNCH_ERROR);
    REQUIRE_THAT(result.report.message, Catch::Contains("sandbox"));
  }
  RequireNextRuns();
}

TEST_CASE("files stay closed") {
  for (const char* kernel : {"open_passwd", "open_for_writing"}) {
    Result result = Try(kernel, 1, 1000);
    INFO(kernel << ": " << result.report.message);
    if (result.report.outcome == v1::OUTCOME_OK) {
      REQUIRE(result.data[0] == -1);
    } else {
      REQUIRE(result.report.outcome == v1::OUTCOME_LAUNCH_ERROR);
    }
  }
  REQUIRE(access("/tmp/warpsmith-hostile", F_OK) != 0);
  RequireNextRuns();
}

TEST_CASE("constructors run in the sandbox") {
  const std::string head =
      "extern \"C\" int open(const char*, int, ...); extern \"C\" int fork(); extern \"C\" int socket(int, int, int);\n"
      "extern \"C\" void exit(int); extern \"C\" void _exit(int);\n"
      "__global__ void k(int* x) { x[0] = 7; }\n";
  auto run = [&](const std::string& body) {
    Bench bench(head + "__attribute__((constructor)) static void begin() { " + body + " }\n", {"k"});
    uint32_t x = bench.Add(std::vector<int>(4));
    bench.Launch(0, 1, 1, {Bench::Tensor(x)});
    RunRequest request;
    request.limit_seconds = 1;
    return bench.Run(request);
  };
  REQUIRE(run("if (open(\"/etc/passwd\", 0) >= 0) for (;;) {}").outcome == v1::OUTCOME_OK);
  REQUIRE(run("fork();").outcome == v1::OUTCOME_LAUNCH_ERROR);
  REQUIRE(run("socket(2, 1, 0);").outcome == v1::OUTCOME_LAUNCH_ERROR);
  RunReport gone = run("_exit(0);");
  REQUIRE(gone.outcome == v1::OUTCOME_LAUNCH_ERROR);
  REQUIRE_THAT(gone.message, Catch::Contains("exit status 0"));
  REQUIRE(run("exit(0);").outcome == v1::OUTCOME_LAUNCH_ERROR);
  REQUIRE(run("for (;;) {}").outcome == v1::OUTCOME_TIMEOUT);
  REQUIRE(run("*(volatile int*)0 = 1;").outcome == v1::OUTCOME_ILLEGAL_ACCESS);
  REQUIRE(run("warpsmith_device.barrier(0, 0);").outcome == v1::OUTCOME_LAUNCH_ERROR);
  RequireNextRuns();
}

TEST_CASE("endless kernels are killed at their deadline") {
  for (const char* kernel : {"loop", "spin_on_atomic", "sleep_on"}) {
    Result result = Try(kernel);
    INFO(kernel << ": " << result.report.message);
    REQUIRE(result.report.outcome == v1::OUTCOME_TIMEOUT);
    REQUIRE(result.report.host_seconds < 5);
  }
  RequireNextRuns();
}

TEST_CASE("a kernel that stops its own process") {
  Result result = Try("stop_itself");
  INFO(result.report.message);
  bool stopped = result.report.outcome == v1::OUTCOME_TIMEOUT || result.report.outcome == v1::OUTCOME_LAUNCH_ERROR;
  REQUIRE(stopped);
  RequireNextRuns();
}

TEST_CASE("a barrier that not all threads reach") {
  Result result = Try("divergent_barrier", 32);
  INFO(result.report.message);
  REQUIRE(result.report.outcome == v1::OUTCOME_LAUNCH_ERROR);
  REQUIRE_THAT(result.report.message, Catch::Contains("barrier deadlock"));
  REQUIRE_THAT(result.report.message, Catch::Contains("16 wait at __syncthreads"));
  RequireNextRuns();
}

TEST_CASE("illegal accesses") {
  for (const char* kernel : {"null_read", "far_write", "stack_bomb"}) {
    Result result = Try(kernel);
    INFO(kernel << ": " << result.report.message);
    REQUIRE(result.report.outcome == v1::OUTCOME_ILLEGAL_ACCESS);
    REQUIRE_THAT(result.report.message, Catch::Contains("step 0"));
  }
  Result misaligned = Try("misaligned", 2);
  REQUIRE(misaligned.report.outcome == v1::OUTCOME_ILLEGAL_ACCESS);
  REQUIRE_THAT(misaligned.report.message, Catch::Contains("misaligned address"));
  REQUIRE(Try("shared_past", 1, 64).report.outcome == v1::OUTCOME_ILLEGAL_ACCESS);  // 256 bytes are 64 integers
  RequireNextRuns();
}

TEST_CASE("a write past a buffer lands in its guard") {
  Bench bench(Code(), kKernels);
  uint32_t x = bench.Add(std::vector<int>(10)), y = bench.Add(std::vector<int>(10));
  bench.Launch(IndexOf("one_past"), 1, 1, {Bench::Tensor(x), Bench::Value(10)});
  REQUIRE(bench.Run().outcome == v1::OUTCOME_OK);
  REQUIRE(!bench.GuardsIntact(x));
  REQUIRE(bench.GuardsIntact(y));
}

TEST_CASE("ends without a result") {
  for (const char* kernel : {"exit_zero", "exit_zero_quickly", "call_abort", "trap", "failed_assertion"}) {
    Result result = Try(kernel);
    INFO(kernel << ": " << result.report.message);
    REQUIRE(result.report.outcome == v1::OUTCOME_LAUNCH_ERROR);
  }
  REQUIRE_THAT(Try("failed_assertion").report.message, Catch::Contains("x[0] == 12345"));
  RequireNextRuns();
}

TEST_CASE("what a kernel writes to its descriptors is not believed") {
  REQUIRE(Try("print_to_output").report.outcome == v1::OUTCOME_OK);  // goes nowhere
  Result forged = Try("forge_report");
  REQUIRE(forged.report.outcome == v1::OUTCOME_LAUNCH_ERROR);
  REQUIRE_THAT(forged.report.message, Catch::Contains("report channel"));
  REQUIRE(Try("close_everything").report.outcome == v1::OUTCOME_LAUNCH_ERROR);
  RequireNextRuns();
}

TEST_CASE("bombs") {
  Result heap = Try("heap_bomb");
  REQUIRE(heap.report.outcome == v1::OUTCOME_OK);
  REQUIRE(heap.data[0] == 1);
  Result flood = Try("print_flood");
  REQUIRE(flood.report.outcome == v1::OUTCOME_OK);
  REQUIRE(flood.report.message.size() < 4096);
  Bench bench(Code(), kKernels);
  bench.set_address_space(int64_t{1} << 30);
  uint32_t x = bench.Add(std::vector<int>(4));
  bench.Launch(IndexOf("memory_bomb"), 1, 1, {Bench::Tensor(x)});
  REQUIRE(bench.Run().outcome == v1::OUTCOME_ILLEGAL_ACCESS);  // the map fails, and nobody looked
  RequireNextRuns();
}

TEST_CASE("values only a GPU would give") {
  for (const char* kernel : {"shift", "convert"}) {
    Result result = Try(kernel, 1, 0x42000000);  // 32.0f, and far more than 32
    INFO(kernel << ": " << result.report.message);
    REQUIRE(result.report.outcome == v1::OUTCOME_NEEDS_GPU);
  }
  REQUIRE(Try("shift", 1, 31).report.outcome == v1::OUTCOME_OK);
}

}  // namespace
}  // namespace warpsmith::executor
