#include <fmt/format.h>

#include "tests/gpu/executor/candidates.h"
#include "tests/gpu/executor/checks.h"

namespace warpsmith::executor {
namespace {

constexpr int kFaultThreads = 256;
const std::vector<std::string> kKernels = {"fine",    "far_write", "null_read", "misaligned", "one_past",
                                           "endless", "trap",      "print",     "heap",       "much_local"};

struct Case {
  const char* kernel;
  std::vector<v1::KernelArgument> more;
  v1::Outcome outcome;
  const char* words;  // in the message
};

struct Result {
  RunReport report;
  bool guards = false;
  double ms = 0;
};

// The kernel as the second step, so that the message has to name it.
Result Try(Gpu& gpu, ExecutorFactory& factory, const Case& one) {
  Candidate candidate(gpu, kFaults, {"fine", one.kernel});
  uint32_t y = candidate.Add(std::vector<float>(kFaultThreads), v1::BUFFER_KIND_OUTPUT);
  candidate.Launch(0, 1, kFaultThreads, {Candidate::View(y)});
  std::vector<v1::KernelArgument> arguments = {Candidate::View(y)};
  arguments.insert(arguments.end(), one.more.begin(), one.more.end());
  candidate.Launch(1, 1, kFaultThreads, arguments);
  Result result;
  auto executor = candidate.Start(factory);
  if (!executor.ok()) {
    result.report.message = Message(executor.status());
    return result;
  }
  RunRequest request;
  request.limit_seconds = 1.5;
  Stopwatch watch;
  result.report = (*executor)->Run(request);
  result.ms = watch.Milliseconds();
  if (result.report.outcome != v1::OUTCOME_OK) {
    bool stays = (*executor)->Run(request).outcome == result.report.outcome;
    if (!stays) result.report.outcome = v1::OUTCOME_UNSPECIFIED;
  }
  executor->reset();
  result.guards = candidate.GuardsIntact();
  return result;
}

}  // namespace

void CheckFaults(Gpu& gpu, ExecutorFactory& factory) {
  const auto extra = Candidate::Value(kFaultThreads);
  const std::vector<Case> cases = {
      {"far_write", {}, v1::OUTCOME_ILLEGAL_ACCESS, "step 1 (kernel far_write)"},
      {"null_read", {}, v1::OUTCOME_ILLEGAL_ACCESS, "step 1 (kernel null_read)"},
      {"misaligned", {}, v1::OUTCOME_ILLEGAL_ACCESS, "step 1 (kernel misaligned)"},
      {"trap", {}, v1::OUTCOME_LAUNCH_ERROR, "step 1 (kernel trap)"},
      {"endless", {}, v1::OUTCOME_TIMEOUT, "1.5 s"},
      {"fine", {extra}, v1::OUTCOME_LAUNCH_ERROR, "2 arguments for a kernel that takes 1"},
      {"much_local", {Candidate::Value(int64_t{0})}, v1::OUTCOME_LAUNCH_ERROR, "argument 1 has 8 bytes"},
      {"print", {}, v1::OUTCOME_OK, ""},
      {"heap", {}, v1::OUTCOME_OK, ""}};
  for (const Case& one : cases) {
    Result result = Try(gpu, factory, one);
    bool good = result.report.outcome == one.outcome && result.report.message.find(one.words) != std::string::npos &&
                result.guards;
    Stopwatch watch;
    Result next = Try(gpu, factory, {"fine", {}, v1::OUTCOME_OK, ""});
    gpu.Report(good && next.report.outcome == v1::OUTCOME_OK, one.kernel,
               fmt::format("{} in {:.0f} ms: {}; the next candidate ran in {:.0f} ms", Name(result.report.outcome),
                           result.ms, result.report.message, watch.Milliseconds()));
  }
  Result past = Try(gpu, factory, {"one_past", {extra}, v1::OUTCOME_OK, ""});
  gpu.Report(past.report.outcome == v1::OUTCOME_OK && !past.guards, "a write past the end breaks a guard",
             past.report.message);
  // 480,000 bytes a thread, for all threads that the device holds: more than most devices have.
  int64_t threads = int64_t{gpu.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)} *
                    gpu.Attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  bool fits = threads * 480000 < gpu.FreeBytes();
  Result local = Try(gpu, factory, {"much_local", {Candidate::Value(3)}, v1::OUTCOME_OUT_OF_MEMORY, ""});
  gpu.Report(fits || local.report.outcome == v1::OUTCOME_OUT_OF_MEMORY, "local memory beyond the device's",
             fmt::format("{} {}", Name(local.report.outcome), local.report.message));
}

}  // namespace warpsmith::executor
