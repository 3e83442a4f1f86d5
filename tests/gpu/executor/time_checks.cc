#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/gpu/executor/candidates.h"
#include "tests/gpu/executor/checks.h"

namespace warpsmith::executor {
namespace {

std::unique_ptr<Executor> MustStart(const Candidate& candidate, ExecutorFactory& factory) {
  auto executor = candidate.Start(factory);
  Require(executor.ok(), Message(executor.status()));
  return std::move(*executor);
}

TimeRequest Samples(int count, bool cold = true, std::vector<int> slots = {0}) {
  TimeRequest request;
  request.slots = std::move(slots);
  request.samples = count;
  request.cold = cold;
  return request;
}

// What the making of other processes' contexts, which is not held here, does to what is timed meanwhile: why timing
// waits for them to stand still (decision record 0008), or need not.
void TellWhatContextsDisturb(Gpu& gpu, Executor& executor, double quiet_median) {
  for (int at_once : {1, 4}) {
    ProcessExecutorOptions options = gpu.Options(0);
    options.refill = {8, at_once, true};
    ProcessExecutorFactory making(options);
    RunReport timed = executor.Time(Samples(600));
    const double median = Median(timed.samples);
    std::vector<double> sorted = timed.samples;
    std::sort(sorted.begin(), sorted.end());
    const auto off = std::count_if(sorted.begin(), sorted.end(), [quiet_median](double sample) {
      return std::abs(sample - quiet_median) > 0.01 * quiet_median;
    });
    const size_t quarter = sorted.size() / 4;
    gpu.Report(
        timed.outcome == v1::OUTCOME_OK && !sorted.empty(), fmt::format("timed beside {} contexts at once", at_once),
        fmt::format("median {:+.3f} % of the quiet one, IQR {:.2f} %, {:.1f} % of {} samples off by over 1 %, worst "
                    "{:.3f} ms",
                    100 * (median / quiet_median - 1), 100 * (sorted[3 * quarter] - sorted[quarter]) / median,
                    100.0 * static_cast<double>(off) / static_cast<double>(sorted.size()), sorted.size(),
                    1e3 * sorted.back()));
  }
}

// Device and host agree on a long batch less the empty one, and cold samples are what the bytes allow.
void CheckBandwidth(Gpu& gpu, ExecutorFactory& factory) {
  const int64_t bytes = int64_t{1} << 30;
  Candidate candidate(gpu, kCopy, {"copy"});
  uint32_t x = candidate.AddBytes(bytes, v1::BUFFER_KIND_READ_ONLY);
  uint32_t y = candidate.AddBytes(bytes, v1::BUFFER_KIND_OUTPUT);
  const auto blocks = static_cast<uint32_t>(16 * gpu.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  candidate.Launch(0, blocks, 512, {Candidate::View(x), Candidate::View(y), Candidate::Value(bytes / 16)});
  auto executor = MustStart(candidate, factory);
  factory.SetQuiet(true);
  RunReport timed = executor->Time(Samples(30));
  const double median = Median(timed.samples);
  const double rate = 2e-9 * static_cast<double>(bytes) / median;
  std::sort(timed.samples.begin(), timed.samples.end());
  const double spread = (timed.samples[22] - timed.samples[7]) / median;
  gpu.Report(timed.outcome == v1::OUTCOME_OK && rate > 200 && rate < 20000, "copying 1 GiB, cold",
             fmt::format("{:.4f} ms, {:.0f} GB/s read and written, IQR {:.2f} %", 1e3 * median, rate, 100 * spread));
  RunRequest batch;
  batch.repetitions = 0;
  executor->Run(batch);  // the first run of a candidate goes step by step
  batch.repetitions = 1;
  executor->Run(batch);
  batch.repetitions = 0;
  RunReport empty = executor->Run(batch);
  batch.repetitions = std::max(10, static_cast<int>(0.5 / median));
  RunReport full = executor->Run(batch);
  const double host = (full.host_seconds - empty.host_seconds) / batch.repetitions;
  const double device = full.device_seconds / batch.repetitions;
  gpu.Report(
      std::abs(host - device) / host < 0.02, "two clocks on a batch",
      fmt::format("{} runs: device {:.4f} ms, host {:.4f} ms, {:.2f} % apart; an empty call {:.0f} us",
                  batch.repetitions, 1e3 * device, 1e3 * host, 100 * (host - device) / host, 1e6 * empty.host_seconds));
  TellWhatContextsDisturb(gpu, *executor, median);
  factory.SetQuiet(false);
}

// A kernel that lasts a known time by the GPU's own clock, and what a sample costs beside it.
void CheckKnownTime(Gpu& gpu, ExecutorFactory& factory) {
  Candidate candidate(gpu, kCopy, {"wait"});
  uint32_t y = candidate.AddBytes(4, v1::BUFFER_KIND_OUTPUT);
  candidate.Launch(0, 1, 1, {Candidate::View(y), Candidate::Value(int64_t{1000000})});
  auto executor = MustStart(candidate, factory);
  executor->Run({});
  Stopwatch watch;
  RunReport cold = executor->Time(Samples(100));
  const double beside = (watch.Milliseconds() - 101 * 1e3 * Median(cold.samples)) / 101;
  RunReport warm = executor->Time(Samples(100, /*cold=*/false));
  const double cold_ms = 1e3 * Median(cold.samples), warm_ms = 1e3 * Median(warm.samples);
  gpu.Report(std::abs(cold_ms - 1) < 0.02 && std::abs(warm_ms - 1) < 0.02 && warm.samples.size() == 100,
             "a kernel of 1 ms",
             fmt::format("cold {:.4f} ms, warm {:.4f} ms; a cold sample costs {:.0f} us besides", cold_ms, warm_ms,
                         1e3 * beside));
}

void CheckManyLaunches(Gpu& gpu, ExecutorFactory& factory) {
  Candidate candidate(gpu, kPlain, {"nothing"});
  uint32_t y = candidate.Add(std::vector<float>(1), v1::BUFFER_KIND_UPDATED);
  for (int i = 0; i < 2000; ++i) candidate.Launch(0, 1, 32, {Candidate::View(y)});
  auto executor = MustStart(candidate, factory);
  Stopwatch watch;
  RunReport first = executor->Run({});
  double first_ms = watch.Milliseconds();
  RunReport timed = executor->Time(Samples(10));
  const double ms = 1e3 * Median(timed.samples);
  const float count = candidate.Read<float>(y)[0];
  gpu.Report(first.outcome == v1::OUTCOME_OK && timed.launch_mode == "graph" && count == 2000 * 12 && ms < 6,
             "2,000 launches as a graph",
             fmt::format("{:.3f} ms; first run {:.1f} ms; {} launches counted", ms, first_ms, count));
  Candidate tiny(gpu, kPlain, {"nothing"});
  y = tiny.Add(std::vector<float>(1), v1::BUFFER_KIND_UPDATED);
  tiny.Launch(0, 1, 32, {Candidate::View(y)});
  executor = MustStart(tiny, factory);
  executor->Run({});
  timed = executor->Time(Samples(100));
  gpu.Report(timed.outcome == v1::OUTCOME_OK, "one tiny launch, cold",
             fmt::format("{:.2f} us", 1e6 * Median(timed.samples)));
}

// Shared memory: what a launch left must be gone in the next run, and a batch shows that it would stay.
void CheckLeftover(Gpu& gpu, ExecutorFactory& factory) {
  const int bytes = gpu.Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  Candidate candidate(gpu, kLeftover, {"leave"});
  uint32_t seen = candidate.Add(std::vector<uint32_t>(1, 0), v1::BUFFER_KIND_UPDATED);
  candidate
      .Launch(0, static_cast<uint32_t>(gpu.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)), 256,
              {Candidate::View(seen), Candidate::Value(bytes / 4)})
      .set_dynamic_shared_bytes(static_cast<uint32_t>(bytes));
  auto executor = MustStart(candidate, factory);
  for (int i = 0; i < 3; ++i) executor->Run({});
  const uint32_t between_runs = candidate.Read<uint32_t>(seen)[0];
  RunReport timed = executor->Time(Samples(5));
  const uint32_t between_samples = candidate.Read<uint32_t>(seen)[0];
  RunRequest batch;
  batch.repetitions = 2;
  executor->Run(batch);
  const uint32_t in_batch = candidate.Read<uint32_t>(seen)[0];
  gpu.Report(between_runs == 0 && between_samples == 0 && timed.outcome == v1::OUTCOME_OK,
             "shared memory of the launch before",
             fmt::format("{} words seen between runs, {} between samples, {} in a batch (the control)", between_runs,
                         between_samples, in_batch));
}

void CheckPersisting(Gpu& gpu, ExecutorFactory& factory) {
  double times[2] = {};
  const int count = 1 << 20;
  const auto blocks = static_cast<uint32_t>(4 * gpu.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  for (uint32_t kernel : {0u, 1u}) {
    Candidate candidate(gpu, kPersist, {"sum_kept", "sum_plain"});
    uint32_t x = candidate.Add(std::vector<float>(4 * count, 1));
    uint32_t y = candidate.AddBytes(4 * 512 * int64_t{blocks}, v1::BUFFER_KIND_OUTPUT);
    candidate.Launch(kernel, blocks, 512, {Candidate::View(x), Candidate::View(y), Candidate::Value(count)});
    auto executor = MustStart(candidate, factory);
    executor->Run({});
    times[kernel] = 1e6 * Median(executor->Time(Samples(50)).samples);
  }
  gpu.Report(times[0] > 0.93 * times[1], "lines pinned in the cache",
             fmt::format("cold {:.2f} us, without pinning {:.2f} us", times[0], times[1]));
}

// Outputs are poisoned before every sample, in every slot, and what the last launch wrote stays.
void CheckPoison(Gpu& gpu, ExecutorFactory& factory) {
  constexpr int kCount = 1000;
  Candidate candidate(gpu, kPlain, {"add_one"}, 2);
  uint32_t y = candidate.Add(std::vector<float>(kCount, 0), v1::BUFFER_KIND_OUTPUT);
  candidate.Launch(0, 4, 256, {Candidate::View(y), Candidate::Value(kCount)});
  auto executor = MustStart(candidate, factory);
  executor->Run({});
  auto all_nan = [&candidate, y](int slot) {
    std::vector<float> values = candidate.Read<float>(y, slot);
    return std::all_of(values.begin(), values.end(), [](float value) { return std::isnan(value); });
  };
  executor->Time(Samples(4, true, {0, 1}));
  bool poisoned = all_nan(0) && all_nan(1);
  candidate.Write(y, std::vector<float>(kCount, 0), 0);
  TimeRequest request = Samples(4);
  request.warmups = 1;
  request.poison = false;
  executor->Time(request);
  gpu.Report(poisoned && candidate.Read<float>(y) == std::vector<float>(kCount, 5) && candidate.GuardsIntact(),
             "poison before samples, or none");
}

}  // namespace

void CheckTimes(Gpu& gpu, ExecutorFactory& factory) {
  CheckPoison(gpu, factory);
  CheckLeftover(gpu, factory);
  CheckKnownTime(gpu, factory);
  CheckManyLaunches(gpu, factory);
  CheckPersisting(gpu, factory);
  CheckBandwidth(gpu, factory);
}

// One candidate after the other, as a worker does it: nothing grows.
void CheckMany(Gpu& gpu, ExecutorFactory& factory) {
  constexpr int kCount = 40;
  Candidate candidate(gpu, kPlain, {"scale"});
  uint32_t x = candidate.Add(std::vector<float>(1000, 2));
  uint32_t y = candidate.Add(std::vector<float>(1000), v1::BUFFER_KIND_OUTPUT);
  candidate.Launch(0, 4, 256, {Candidate::View(x), Candidate::View(y), Candidate::Value(1000), Candidate::Value(3.0f)});
  factory.SetQuiet(true);
  factory.SetQuiet(false);
  RealClock().SleepFor(std::chrono::seconds(1));
  const int64_t free_before = gpu.FreeBytes();
  bool good = true;
  Stopwatch watch;
  for (int i = 0; i < kCount; ++i) {
    auto executor = candidate.Start(factory);
    good = good && executor.ok() && (*executor)->Run({}).outcome == v1::OUTCOME_OK;
  }
  const double each = watch.Milliseconds() / kCount;
  RealClock().SleepFor(std::chrono::milliseconds(1500));
  const int64_t lost = free_before - gpu.FreeBytes();
  gpu.Report(good && std::abs(static_cast<double>(lost)) < 64e6, "one candidate after the other",
             fmt::format("{:.0f} ms each without a pause (a context a candidate); {} bytes of the GPU's memory lost",
                         each, lost));
}

}  // namespace warpsmith::executor
