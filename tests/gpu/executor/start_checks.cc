#include <fmt/format.h>

#include <algorithm>

#include "tests/gpu/executor/candidates.h"
#include "tests/gpu/executor/checks.h"

namespace warpsmith::executor {
namespace {

constexpr int kStartCount = 1000;

struct Started {
  bool good = false;
  double start_ms = 0;
  double run_ms = 0;
  std::string message;
};

Started StartAndRun(Gpu& gpu, ExecutorFactory& factory) {
  Candidate candidate(gpu, kPlain, {"scale"});
  uint32_t x = candidate.Add(std::vector<float>(kStartCount, 2));
  uint32_t y = candidate.Add(std::vector<float>(kStartCount, -1), v1::BUFFER_KIND_OUTPUT);
  candidate.Launch(0, 4, 256,
                   {Candidate::View(x), Candidate::View(y), Candidate::Value(kStartCount), Candidate::Value(3.0f)});
  Started result;
  Stopwatch start;
  auto executor = candidate.Start(factory);
  result.start_ms = start.Milliseconds();
  if (!executor.ok()) {
    result.message = Message(executor.status());
    return result;
  }
  Stopwatch run;
  RunReport report = (*executor)->Run({});
  result.run_ms = run.Milliseconds();
  result.message = report.message;
  result.good = report.outcome == v1::OUTCOME_OK && candidate.Read<float>(y) == std::vector<float>(kStartCount, 6) &&
                candidate.GuardsIntact();
  return result;
}

// What contexts cost one at a time and side by side, and what holding those on their way does.
void CheckRefill(Gpu& gpu) {
  auto seconds_until = [&gpu](RefillLimits limits, int starts) {
    ProcessExecutorOptions options = gpu.Options(0);
    options.refill = limits;
    Stopwatch watch;
    ProcessExecutorFactory factory(options);
    bool good = true;
    for (int i = 0; i < starts; ++i) good = StartAndRun(gpu, factory).good && good;
    gpu.Report(good, fmt::format("{} starts, {} contexts at once", starts, limits.at_once));
    return watch.Milliseconds();
  };
  const double one = seconds_until({1, 1, true}, 1);
  const double four = seconds_until({4, 4, true}, 4);
  const double row = seconds_until({4, 1, true}, 4);
  // How far the driver makes contexts side by side is the machine's affair: from half the time to nearly all of it.
  gpu.Report(four < 1.1 * row, "contexts made at once take no longer than in a row",
             fmt::format("one {:.0f} ms, four at once {:.0f} ms, four in a row {:.0f} ms", one, four, row));

  ProcessExecutorOptions options = gpu.Options(0);
  options.refill = {4, 4, true};
  ProcessExecutorFactory factory(options);
  double longest = 0;
  // As a backlog has it: 30 ms of pause, 50 ms of quiet.
  for (int i = 0; i < 12; ++i) {
    RealClock().SleepFor(std::chrono::milliseconds(30));
    Stopwatch quiet;
    factory.SetQuiet(true);
    longest = std::max(longest, quiet.Milliseconds());
    RealClock().SleepFor(std::chrono::milliseconds(50));
    factory.SetQuiet(false);
  }
  bool good = true;
  for (int i = 0; i < 4; ++i) good = StartAndRun(gpu, factory).good && good;
  gpu.Report(good && longest < 50, "contexts that were held while something was timed",
             fmt::format("standing still took at most {:.1f} ms", longest));
}

}  // namespace

void CheckStarts(Gpu& gpu) {
  CheckRefill(gpu);
  for (bool restrict_files : {true, false}) {
    ProcessExecutorOptions options = gpu.Options(0);
    options.restrict_files = restrict_files;
    ProcessExecutorFactory factory(options);
    Started started = StartAndRun(gpu, factory);
    gpu.Report(
        started.good, restrict_files ? "cold start" : "cold start without Landlock",
        fmt::format("start {:.0f} ms, first run {:.2f} ms {}", started.start_ms, started.run_ms, started.message));
  }
  // One hardware queue is what executors have (device/cuda/child_environment.h); eight are the driver's usual number.
  for (const char* queues : {"8", "1"}) {
    ProcessExecutorOptions options = gpu.Options(0);
    for (const char* name : {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_MAX_COPY_CONNECTIONS"}) {
      options.environment[name] = queues;
    }
    std::vector<double> starts;
    bool good = true;
    for (int i = 0; i < 7; ++i) {
      ProcessExecutorFactory factory(options);
      const Started started = StartAndRun(gpu, factory);
      good = good && started.good;
      starts.push_back(started.start_ms);
    }
    gpu.Report(good, fmt::format("cold starts, hardware queues: {}", queues),
               fmt::format("median {:.0f} ms of 7", Median(starts)));
  }
  ProcessExecutorFactory factory(gpu.Options(2));
  RealClock().SleepFor(std::chrono::seconds(2));
  Started started = StartAndRun(gpu, factory);
  gpu.Report(started.good && started.start_ms < 60, "warm start",
             fmt::format("start {:.1f} ms, first run {:.2f} ms {}", started.start_ms, started.run_ms, started.message));
  Stopwatch quiet;
  factory.SetQuiet(true);
  double waited = quiet.Milliseconds();
  RealClock().SleepFor(std::chrono::milliseconds(100));
  StartAndRun(gpu, factory);  // the last that was warm
  started = StartAndRun(gpu, factory);
  gpu.Report(started.good && waited < 5000, "a start while quiet, with none warm",
             fmt::format("going quiet {:.0f} ms, start {:.0f} ms {}", waited, started.start_ms, started.message));
}

}  // namespace warpsmith::executor
