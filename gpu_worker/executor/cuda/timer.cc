#include "gpu_worker/executor/cuda/timer.h"

#include <algorithm>
#include <set>

#include "gpu_worker/executor/cuda/poison.h"
#include "gpu_worker/executor/frame.h"
#include "gpu_worker/measure/location.h"

namespace warpsmith::executor {
namespace {

constexpr size_t kEvents = 128;  // a chunk of warm samples takes two each
constexpr size_t kCalibrations = 128;
constexpr size_t kMostCalibrations = 4096;  // where the clock's ticks are coarse
constexpr double kCalibrationError = 5e-9;  // seconds

int SlotOf(const wire::Request& request, int run) {
  return request.slots_size() == 0 ? 0 : request.slots(run % request.slots_size());
}

}  // namespace

CudaTimer::CudaTimer(const v1::ExecutionPlan& plan, CudaContext& context, CudaPlanRunner& runner, Launcher& launcher,
                     const IpcBuffers& buffers)
    : plan_(plan), context_(context), api_(context.api()), runner_(runner), launcher_(launcher), buffers_(buffers) {}

absl::Status CudaTimer::CreateEvents() {
  events_.resize(kEvents);
  for (CUevent& event : events_) {
    WARPSMITH_RETURN_IF_ERROR(
        cuda::CudaStatus(api_, api_.cuEventCreate(&event, CU_EVENT_DEFAULT), "making the timer's events"));
  }
  return absl::OkStatus();
}

MaybeFault CudaTimer::Fail(CUresult result) const {
  if (result == CUDA_SUCCESS) return std::nullopt;
  // Any call after a launch may be the first to say what went wrong in it.
  std::string where = launched_ ? runner_.Describe(StepList::kSteps, 0, runner_.Count(StepList::kSteps)) : "executor";
  return CheckCuda(api_, result, std::move(where));
}

MaybeFault CudaTimer::Launch(int slot) {
  launched_ = true;
  return launcher_.Launch(slot);
}

MaybeFault CudaTimer::Elapsed(CUevent before, CUevent after, double& seconds) const {
  float milliseconds = 0;
  if (auto fault = Fail(api_.cuEventElapsedTime(&milliseconds, before, after))) return fault;
  seconds = std::max(1e-3 * static_cast<double>(milliseconds), 0.0);
  return std::nullopt;
}

MaybeFault CudaTimer::Run(const wire::Request& request, wire::Report& report) {
  if (auto fault = PrepareSlots(request)) return fault;
  if (!request.batch() && !runner_.residency().complete()) {
    if (auto fault = FirstRun(SlotOf(request, 0))) return fault;
  }
  MaybeFault fault;
  if (request.batch()) {
    fault = Batch(request, report);
  } else if (request.cold()) {
    fault = Cold(request, report);
  } else {
    fault = Warm(request, report);
  }
  report.set_launch_mode(launcher_.mode());
  report.set_prepare_seconds(prepare_seconds_);
  return fault;
}

// Parameters may have been drawn anew since the last request.
MaybeFault CudaTimer::PrepareSlots(const wire::Request& request) {
  std::set<int> slots(request.slots().begin(), request.slots().end());
  if (slots.empty()) slots.insert(0);
  for (int slot : slots) {
    if (slot < 0 || slot >= buffers_.slots()) return CudaFault{v1::OUTCOME_LAUNCH_ERROR, "executor", "no such slot"};
    if (runner_.Count(StepList::kPrepare) == 0) continue;
    if (auto fault = Fail(context_.FillShared(request.shared_fill()))) return fault;
    if (auto fault = Fail(api_.cuEventRecord(events_[0], context_.stream()))) return fault;
    // Slowly the first time, so that a fault is known by its step; the later ones give the time.
    MaybeFault fault = prepared_ ? runner_.Enqueue(StepList::kPrepare, slot, 0, runner_.Count(StepList::kPrepare))
                                 : launcher_.LaunchSlowly(StepList::kPrepare, slot);
    prepared_ = true;
    if (fault) return fault;
    fault = Fail(api_.cuEventRecord(events_[1], context_.stream()));
    if (!fault) fault = launcher_.Wait();
    if (!fault) fault = Elapsed(events_[0], events_[1], prepare_seconds_);
    if (fault) return fault;
  }
  return std::nullopt;
}

// Step by step, so that a fault is known by its step.
MaybeFault CudaTimer::FirstRun(int slot) {
  ran_ = launched_ = true;
  if (auto fault = launcher_.LaunchSlowly(StepList::kSteps, slot)) return fault;
  runner_.residency().NoteFirstRun();
  return std::nullopt;
}

// The same calls whatever the number of runs, so that a call with none shows what the others cost beside the runs.
MaybeFault CudaTimer::Batch(const wire::Request& request, wire::Report& report) {
  const int slot = SlotOf(request, 0);
  int runs = std::clamp(request.runs(), 0, kMaxRuns);
  // A capture must load nothing, so where only a run loads all of it, the graph is made after the first.
  const bool first_loads = !ran_ && !runner_.residency().complete();
  if (!first_loads) {
    if (auto fault = launcher_.MakeReady(slot)) return fault;
  }
  if (auto fault = Fail(context_.FillShared(request.shared_fill()))) return fault;
  if (auto fault = launcher_.Wait()) return fault;
  if (auto fault = Fail(context_.ResetPersistingCache())) return fault;
  if (auto fault = Fail(api_.cuEventRecord(events_[0], context_.stream()))) return fault;
  if (!ran_ && runs > 0) {
    --runs;
    if (auto fault = FirstRun(slot)) return fault;
  }
  for (int i = 0; i < runs; ++i) {
    if (auto fault = Launch(slot)) return fault;
  }
  if (auto fault = Fail(api_.cuEventRecord(events_[1], context_.stream()))) return fault;
  if (auto fault = launcher_.Wait()) return fault;
  double seconds = 0;
  if (auto fault = Elapsed(events_[0], events_[1], seconds)) return fault;
  report.set_batch_seconds(seconds);
  return std::nullopt;
}

// The reset of pinned cache lines is not in stream order and has to come after the run before, so there is a wait a
// sample. The flush gives the processor time to have the launch queued before the clock starts.
MaybeFault CudaTimer::ColdRun(int slot, const wire::Request& request, CUevent before, CUevent after) {
  if (auto fault = launcher_.MakeReady(slot)) return fault;
  if (auto fault = launcher_.Wait()) return fault;
  if (auto fault = Fail(context_.ResetPersistingCache())) return fault;
  if (request.poison()) {
    if (auto fault = Poison(slot)) return fault;
  }
  if (auto fault = Fail(context_.FillShared(request.shared_fill()))) return fault;
  if (auto fault = Fail(context_.FlushCache())) return fault;
  if (auto fault = Fail(api_.cuEventRecord(before, context_.stream()))) return fault;
  if (auto fault = Launch(slot)) return fault;
  return Fail(api_.cuEventRecord(after, context_.stream()));
}

MaybeFault CudaTimer::Cold(const wire::Request& request, wire::Report& report) {
  const int warmups = std::clamp(request.unmeasured_runs(), 0, kMaxRuns);
  const int runs = std::clamp(request.runs(), 0, kMaxRuns);
  for (int i = 0; i < warmups + runs; ++i) {
    if (i == warmups) {
      if (auto fault = CalibrateEvents()) return fault;
    }
    // In the order of the samples also where there are warm-ups: a caller counts slots from its first sample.
    const int slot = SlotOf(request, i < warmups ? i : i - warmups);
    if (auto fault = ColdRun(slot, request, events_[0], events_[1])) return fault;
    if (i < warmups) continue;
    if (auto fault = launcher_.Wait()) return fault;
    double seconds = 0;
    if (auto fault = Elapsed(events_[0], events_[1], seconds)) return fault;
    report.add_run_seconds(std::max(seconds - event_seconds_, 0.0));
  }
  ran_ = true;
  return launcher_.Wait();
}

MaybeFault CudaTimer::Warm(const wire::Request& request, wire::Report& report) {
  const int runs = std::clamp(request.runs(), 0, kMaxRuns);
  for (int i = 0; i < std::clamp(request.unmeasured_runs(), 0, kMaxRuns); ++i) {
    if (auto fault = Launch(SlotOf(request, i))) return fault;
  }
  if (auto fault = CalibrateEvents()) return fault;
  constexpr int kChunk = static_cast<int>(kEvents / 2);
  for (int first = 0; first < runs; first += kChunk) {
    const int last = std::min(first + kChunk, runs);
    for (int i = first; i < last; ++i) {
      const auto pair = static_cast<size_t>(i - first) * 2;
      if (auto fault = launcher_.MakeReady(SlotOf(request, i))) return fault;
      if (auto fault = Fail(api_.cuEventRecord(events_[pair], context_.stream()))) return fault;
      if (auto fault = Launch(SlotOf(request, i))) return fault;
      if (auto fault = Fail(api_.cuEventRecord(events_[pair + 1], context_.stream()))) return fault;
    }
    if (auto fault = launcher_.Wait()) return fault;
    for (int i = first; i < last; ++i) {
      const auto pair = static_cast<size_t>(i - first) * 2;
      double seconds = 0;
      if (auto fault = Elapsed(events_[pair], events_[pair + 1], seconds)) return fault;
      report.add_run_seconds(std::max(seconds - event_seconds_, 0.0));
    }
  }
  ran_ = true;
  return std::nullopt;
}

// Once a process, behind a flush as in a cold run: what the clock shows where nothing is launched. It is taken off
// every sample, so where ticks are coarse it has to be known to far less than a tick.
MaybeFault CudaTimer::CalibrateEvents() {
  if (calibrated_) return std::nullopt;
  calibrated_ = true;
  std::vector<double> seen;
  for (size_t wanted = kCalibrations; seen.size() < wanted;) {
    if (auto fault = Fail(context_.FlushCache())) return fault;
    for (CUevent event : events_) {
      if (auto fault = Fail(api_.cuEventRecord(event, context_.stream()))) return fault;
    }
    if (auto fault = launcher_.Wait()) return fault;
    for (size_t pair = 0; pair + 1 < events_.size(); pair += 2) {
      if (auto fault = Elapsed(events_[pair], events_[pair + 1], seen.emplace_back())) return fault;
    }
    if (seen.size() < wanted) continue;
    const measure::Location location(seen);
    event_seconds_ = location.value();
    const bool unsure = location.coarse() && location.relative_error() * location.value() > kCalibrationError;
    if (unsure) wanted = std::min(2 * wanted, kMostCalibrations);
  }
  return std::nullopt;
}

MaybeFault CudaTimer::Poison(int slot) {
  const uint32_t pattern = PoisonPattern(++poisons_);
  for (int b = 0; b < plan_.buffers_size(); ++b) {
    const v1::ExecutionBuffer& buffer = plan_.buffers(b);
    const bool output = buffer.kind() == v1::BUFFER_KIND_OUTPUT;
    const bool scratch = buffer.kind() == v1::BUFFER_KIND_SCRATCH && !buffer.persistent();
    if (!output && !scratch) continue;
    const CUdeviceptr start = buffers_.Payload(slot, static_cast<uint32_t>(b));
    const auto bytes = static_cast<size_t>(buffer.bytes());
    if (bytes / 4 > 0) {
      if (auto fault = Fail(api_.cuMemsetD32Async(start, pattern, bytes / 4, context_.stream()))) return fault;
    }
    if (bytes % 4 > 0) {
      auto byte = static_cast<unsigned char>(pattern >> 24);
      CUresult result = api_.cuMemsetD8Async(start + bytes / 4 * 4, byte, bytes % 4, context_.stream());
      if (auto fault = Fail(result)) return fault;
    }
  }
  return std::nullopt;
}

}  // namespace warpsmith::executor
