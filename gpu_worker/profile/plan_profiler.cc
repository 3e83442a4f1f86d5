#include "gpu_worker/profile/plan_profiler.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>

#include "gpu_worker/profile/step_events.h"

namespace warpsmith::profile {
namespace {

// Steps that are timed by events one by one; the rest of a longer plan is taken to be like them.
constexpr int kMostTimedSteps = 4096;
constexpr int kPlanRuns = 3;

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// "void rows<256>(float const*, float*)" of a mangled symbol, without return type and parameters: "rows<256>".
std::string Demangled(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (status != 0 || text == nullptr) return symbol;
  std::string name = text;
  std::free(text);
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth != 0) continue;
    if (name[i] == ' ') start = i + 1;
    if (name[i] == '(') return name.substr(start, i - start);
  }
  return name;
}

}  // namespace

PlanProfiler::PlanProfiler(executor::CudaContext& context, executor::CudaPlanRunner& runner,
                           const v1::ExecutionPlan& plan, const PlanProfilerOptions& options)
    : context_(context), api_(context.api()), runner_(runner), plan_(plan), options_(options), flush_(context) {}

absl::StatusOr<v1::Profile> PlanProfiler::Run(const absl::StatusOr<CuptiApi>& cupti) {
  const double start = Now();
  v1::Profile profile;
  profile.set_launches(plan_.steps_size());
  WARPSMITH_RETURN_IF_ERROR(TimePlan(&profile));
  WARPSMITH_RETURN_IF_ERROR(TimeSteps());
  WARPSMITH_RETURN_IF_ERROR(DescribeSteps(&profile));
  absl::Status counted = cupti.ok() ? Count(*cupti, &profile) : cupti.status();
  if (!counted.ok()) {
    // A launch that fails takes the context with it; then it is the plan that failed and not the counters.
    WARPSMITH_RETURN_IF_ERROR(Check(api_.cuCtxSynchronize(), "running the plan under the profiler"));
    profile.set_unavailable_reason(Message(counted));
  }
  ShareTime(&profile);
  profile.set_seconds(Now() - start);
  return profile;
}

absl::Status PlanProfiler::BeginCold() {
  WARPSMITH_RETURN_IF_ERROR(flush_.Enqueue());
  return Check(context_.Synchronize(), "emptying the caches");
}

absl::Status PlanProfiler::Enqueue(int first, int last) {
  executor::MaybeFault fault = runner_.Enqueue(executor::StepList::kSteps, 0, first, last);
  if (!fault) return absl::OkStatus();
  return FailedPrecondition(fmt::format("{}: {}", fault->where, fault->message));
}

absl::Status PlanProfiler::TimePlan(v1::Profile* profile) {
  WARPSMITH_RETURN_IF_ERROR(EnqueueAll());  // what the first use of anything takes
  WARPSMITH_RETURN_IF_ERROR(Wait());
  std::vector<double> times;
  for (int run = 0; run < kPlanRuns; ++run) {
    const double start = Now();
    WARPSMITH_RETURN_IF_ERROR(BeginCold());
    StepEvents events(api_, context_.stream());
    WARPSMITH_RETURN_IF_ERROR(events.Record());
    WARPSMITH_RETURN_IF_ERROR(EnqueueAll());
    WARPSMITH_RETURN_IF_ERROR(events.Record());
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<double> spans, events.Milliseconds());
    times.push_back(spans[0]);
    run_seconds_ = Now() - start;
    if (run_seconds_ > options_.seconds / 20) break;
  }
  std::sort(times.begin(), times.end());
  profile->set_plan_ms(options_.measured_ms > 0 ? options_.measured_ms : times[times.size() / 2]);
  return absl::OkStatus();
}

absl::Status PlanProfiler::TimeSteps() {
  const int timed = std::min(plan_.steps_size(), kMostTimedSteps);
  WARPSMITH_RETURN_IF_ERROR(BeginCold());
  StepEvents events(api_, context_.stream());
  WARPSMITH_RETURN_IF_ERROR(events.Record());
  for (int step = 0; step < plan_.steps_size(); ++step) {
    WARPSMITH_RETURN_IF_ERROR(Enqueue(step, step + 1));
    if (step < timed) WARPSMITH_RETURN_IF_ERROR(events.Record());
  }
  WARPSMITH_RETURN_IF_ERROR(Wait());
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<double> spans, events.Milliseconds());
  std::vector<StepKind> kinds = GroupSteps(plan_);
  double all = 0, kept = 0;
  for (StepKind& kind : kinds) {
    double sum = 0;
    int counted = 0;
    for (int step : kind.steps) {
      if (step >= timed) break;
      sum += spans[static_cast<size_t>(step)];
      ++counted;
    }
    kind.time_ms = counted > 0 ? sum / counted * static_cast<double>(kind.steps.size()) : 0;
    all += kind.time_ms;
  }
  kinds_ = TopKinds(std::move(kinds), kMostKinds);
  for (const StepKind& kind : kinds_) kept += kind.time_ms;
  other_ms_ = std::max(0.0, all - kept);
  return absl::OkStatus();
}

absl::Status PlanProfiler::DescribeSteps(v1::Profile* profile) {
  const DeviceShape shape = ReadDeviceShape(context_);
  for (const StepKind& kind : kinds_) {
    v1::ProfileStep* step = profile->add_steps();
    const int first = kind.steps.front();
    step->set_kernel(Demangled(kind.name));
    step->set_first_step(first);
    step->set_launches(static_cast<int>(kind.steps.size()));
    step->set_time_ms(kind.time_ms);
    if (!plan_.steps(first).has_kernel()) continue;
    const v1::KernelLaunch& launch = plan_.steps(first).kernel();
    WARPSMITH_RETURN_IF_ERROR(DescribeLaunch(api_, shape, launch, runner_.Function(launch.kernel()), step));
  }
  return absl::OkStatus();
}

absl::Status PlanProfiler::Count(const CuptiApi& cupti, v1::Profile* profile) {
  CUcontext context = nullptr;
  WARPSMITH_RETURN_IF_ERROR(Check(api_.cuCtxGetCurrent(&context), "cuCtxGetCurrent"));
  // Two rounds of passes: one over the plan, one over its kinds.
  const double runs = 0.4 * options_.seconds / std::max(run_seconds_, 1e-4);
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<RangeProfiler> ranges,
                             RangeProfiler::Create(cupti, context, static_cast<int>(std::clamp(runs, 1.0, 1000.0))));
  profile->set_chip(ranges->chip());
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<RangeValues> whole, ranges->Collect(1, [&]() -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(BeginCold());
    WARPSMITH_RETURN_IF_ERROR(ranges->Push("plan"));
    WARPSMITH_RETURN_IF_ERROR(EnqueueAll());
    WARPSMITH_RETURN_IF_ERROR(Wait());
    return ranges->Pop();
  }));
  if (whole.size() != 1) return Internal(fmt::format("CUPTI gave {} ranges for one", whole.size()));
  *profile->mutable_metrics() = whole[0].metrics;
  profile->set_passes(ranges->passes());
  if (plan_.steps_size() == 1) {
    v1::ProfileStep* step = profile->mutable_steps(0);
    *step->mutable_metrics() = whole[0].metrics;
    step->set_time_ms(Value(whole[0].metrics, metric::kTime) * 1e-6);
    return absl::OkStatus();
  }
  return CountSteps(*ranges, profile);
}

absl::Status PlanProfiler::CountSteps(RangeProfiler& ranges, v1::Profile* profile) {
  // From a plan's step to its place in the profile.
  std::vector<std::pair<int, int>> places;
  places.reserve(static_cast<size_t>(profile->steps_size()));
  for (int i = 0; i < profile->steps_size(); ++i) places.emplace_back(profile->steps(i).first_step(), i);
  std::sort(places.begin(), places.end());
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<RangeValues> found, ranges.Collect(places.size(), [&]() -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(BeginCold());
    size_t next = 0;
    for (int step = 0; next < places.size(); ++step) {
      if (step != places[next].first) {
        WARPSMITH_RETURN_IF_ERROR(Enqueue(step, step + 1));
        continue;
      }
      WARPSMITH_RETURN_IF_ERROR(Wait());
      WARPSMITH_RETURN_IF_ERROR(ranges.Push(fmt::format("{}", places[next].second)));
      WARPSMITH_RETURN_IF_ERROR(Enqueue(step, step + 1));
      WARPSMITH_RETURN_IF_ERROR(Wait());
      WARPSMITH_RETURN_IF_ERROR(ranges.Pop());
      ++next;
    }
    return absl::OkStatus();
  }));
  profile->set_passes(profile->passes() + ranges.passes());
  for (const RangeValues& range : found) {
    const int place = std::atoi(range.name.c_str());
    if (place < 0 || place >= profile->steps_size()) continue;
    v1::ProfileStep* step = profile->mutable_steps(place);
    *step->mutable_metrics() = range.metrics;
    if (const double ns = Value(range.metrics, metric::kTime); ns > 0) step->set_time_ms(ns * 1e-6 * step->launches());
  }
  return absl::OkStatus();
}

void PlanProfiler::ShareTime(v1::Profile* profile) const {
  double sum = other_ms_;
  for (const v1::ProfileStep& step : profile->steps()) sum += step.time_ms();
  profile->set_kernel_ms(sum);
  if (!(sum > 0)) return;
  for (v1::ProfileStep& step : *profile->mutable_steps()) step.set_share(step.time_ms() / sum);
  std::stable_sort(profile->mutable_steps()->begin(), profile->mutable_steps()->end(),
                   [](const v1::ProfileStep& a, const v1::ProfileStep& b) { return a.time_ms() > b.time_ms(); });
}

}  // namespace warpsmith::profile
