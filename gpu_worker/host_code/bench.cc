#include "gpu_worker/host_code/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpu_worker/measure/statistics.h"
#include "gpu_worker/reference/oracle_json.h"

namespace warpsmith::host_code {
namespace {

constexpr int kRequests = 11;  // for nothing, to learn what a request costs
constexpr int kFirstCalls = 3;
constexpr int kLeastSlots = 2;
constexpr int64_t kCheckSeed = 900000;

std::vector<int> FirstSlots(int count) {
  std::vector<int> slots(static_cast<size_t>(count));
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

std::vector<v1::PrecisionClass> AllClasses() {
  return {v1::PRECISION_CLASS_FP32, v1::PRECISION_CLASS_TF32, v1::PRECISION_CLASS_BF16};
}

}  // namespace

Bench::Bench(reference::Oracle& oracle, BenchOptions options, TensorLayout layout,
             std::unique_ptr<HostCodeProcess> process, TemporaryDirectory buffers)
    : oracle_(oracle),
      options_(std::move(options)),
      layout_(std::move(layout)),
      process_(std::move(process)),
      buffers_(std::move(buffers)) {}

absl::StatusOr<std::unique_ptr<Bench>> Bench::Create(const v1::Problem& problem, const v1::IntakeSettings& settings,
                                                     reference::Oracle& oracle, const BenchOptions& options,
                                                     std::unique_ptr<HostCodeProcess> process,
                                                     TemporaryDirectory buffers) {
  WARPSMITH_ASSIGN_OR_RETURN(TensorLayout layout, LayOut(problem.signature()));
  WARPSMITH_RETURN_IF_ERROR(oracle.Load(problem.id(), problem.name(), problem.source(), settings, problem.signature()));
  std::unique_ptr<Bench> bench(new Bench(oracle, options, std::move(layout), std::move(process), std::move(buffers)));
  WARPSMITH_RETURN_IF_ERROR(bench->process_->Greet());
  WARPSMITH_ASSIGN_OR_RETURN(
      bench->loaded_,
      bench->process_->Command(
          "load_reference",
          {{"name", problem.name()}, {"source", problem.source()}, {"settings", reference::SettingsToJson(settings)}},
          FromSeconds(options.load_limit_seconds)));
  for (const char* field : {"form", "constructor", "constants"}) {
    if (!bench->loaded_.contains(field)) return Internal(fmt::format("the reference's process left out {}", field));
  }
  WARPSMITH_RETURN_IF_ERROR(bench->Prepare(kLeastSlots));
  WARPSMITH_RETURN_IF_ERROR(bench->JudgeReference());
  const double wanted = std::ceil(options.batch_seconds / std::max(bench->call_seconds_, 1e-6));
  const double fitting = static_cast<double>(options.slot_memory_bytes) /
                         static_cast<double>(std::max<int64_t>(bench->layout_.slot_bytes, 1));
  const int slots = static_cast<int>(
      std::clamp(std::min(wanted, fitting), double{kLeastSlots}, static_cast<double>(options.most_slots)));
  if (slots > bench->slots()) WARPSMITH_RETURN_IF_ERROR(bench->Prepare(slots));
  return bench;
}

// Fewer than `slots` where memory allows no more.
absl::Status Bench::Prepare(int slots) {
  for (int wanted = slots;; wanted /= 2) {
    absl::StatusOr<std::vector<std::vector<reference::SharedBuffer>>> made =
        oracle_.Prepare(buffers_.path().string(), layout_.plan, wanted);
    if (made.ok()) {
      slots_ = *std::move(made);
      break;
    }
    if (!absl::IsResourceExhausted(made.status()) || wanted <= 1) return made.status();
  }
  return process_->Command("open_buffers", BuffersRequest(), FromSeconds(options_.load_limit_seconds)).status();
}

absl::StatusOr<double> Bench::Run(const std::vector<int>& slots) {
  WARPSMITH_RETURN_IF_ERROR(
      process_->Command("load_weights", {{"slot", 0}}, FromSeconds(options_.run_limit_seconds)).status());
  const double limit = options_.load_limit_seconds + options_.run_limit_seconds * static_cast<double>(slots.size());
  const HostCodeAnswer answer = process_->Ask("run", {{"slots", slots}}, FromSeconds(limit));
  if (answer.outcome == v1::OUTCOME_OK) return answer.seconds;
  return InvalidArgument(fmt::format(
      "the module itself does not run as host code does, so that nothing can be held against it: {}", answer.message));
}

// A module that is wrong by the oracle when it runs this way (since its outputs hang on state that calls leave behind,
// say) would make every candidate wrong.
absl::Status Bench::JudgeReference() {
  reference::TrialRequest trial;
  trial.seed = kCheckSeed;
  WARPSMITH_RETURN_IF_ERROR(oracle_.BeginTrial(trial));
  WARPSMITH_RETURN_IF_ERROR(Run({0}).status());
  reference::JudgeRequest judge;
  judge.accepted = AllClasses();
  WARPSMITH_ASSIGN_OR_RETURN(const reference::JudgeReport report, oracle_.Judge(judge));
  if (report.outcome != v1::OUTCOME_OK) {
    return InvalidArgument(fmt::format(
        "the module itself is not right when it runs as host code does, so that candidates cannot be judged: {}",
        report.message));
  }
  reached_ = report.verdict.reached();
  std::vector<double> requests;
  for (int i = 0; i < kRequests; ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(requests.emplace_back(), Run({}));
  }
  request_seconds_ = measure::Summarize(requests).median;
  std::vector<double> calls;
  for (int i = 0; i < kFirstCalls; ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(const double seconds, Run({0}));
    calls.push_back(std::max(seconds - request_seconds_, 1e-7));
  }
  call_seconds_ = *std::min_element(calls.begin(), calls.end());
  return absl::OkStatus();
}

absl::StatusOr<double> Bench::TimeReference(int64_t seed) {
  for (int slot = 0; slot < slots(); ++slot) {
    reference::TrialRequest trial;
    trial.slot = slot;
    trial.seed = seed + slot;
    WARPSMITH_RETURN_IF_ERROR(oracle_.BeginTrial(trial));
  }
  WARPSMITH_RETURN_IF_ERROR(oracle_.Quiesce());
  WARPSMITH_ASSIGN_OR_RETURN(const double seconds, Run(FirstSlots(slots())));
  return std::max(seconds - request_seconds_, 0.0) / slots();
}

}  // namespace warpsmith::host_code
