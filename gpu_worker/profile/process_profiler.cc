#include "gpu_worker/profile/process_profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/file.h"
#include "common/run_child.h"
#include "gpu_worker/profile/analysis.h"
#include "gpu_worker/profile/profile.pb.h"

namespace warpsmith::profile {
namespace {

constexpr size_t kMaxReply = 1u << 20;
constexpr size_t kMaxArtifact = 256u << 20;
constexpr int kMaxSteps = 16;
constexpr int kMaxMetrics = 200;
constexpr size_t kMaxName = 200;
constexpr size_t kMaxText = 1000;
// Of the limit: the process's start, its context and CUPTI's set-up take some of it as well.
constexpr double kShareOfRuns = 0.6;

std::string Clean(std::string_view text, size_t most) {
  std::string clean;
  for (char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    clean += byte >= 0x20 && byte < 0x7f ? c : '?';
  }
  return clean;
}

bool Sane(double value) { return std::isfinite(value) && value >= 0; }

bool CleanMetrics(Metrics* metrics) {
  if (metrics->size() > kMaxMetrics) return false;
  Metrics clean;
  for (const auto& [name, value] : *metrics) {
    // A metric that is not there counts as zero, so zeros need not travel.
    if (Sane(value) && value > 0) clean[Clean(name, kMaxName)] = value;
  }
  *metrics = std::move(clean);
  return true;
}

bool CleanStep(const v1::ExecutionPlan& plan, v1::ProfileStep* step) {
  step->set_kernel(Clean(step->kernel(), kMaxName));
  step->set_occupancy_limiter(Clean(step->occupancy_limiter(), 32));
  const int32_t counts[] = {step->registers(), step->local_bytes(), step->static_shared_bytes(),
                            step->dynamic_shared_bytes(), step->blocks_per_sm()};
  return step->first_step() >= 0 && step->first_step() < plan.steps_size() && step->launches() > 0 &&
         step->launches() <= plan.steps_size() && Sane(step->time_ms()) && Sane(step->share()) &&
         step->share() <= 1 + 1e-9 && Sane(step->occupancy()) && Sane(step->waves()) && step->grid_size() <= 3 &&
         step->block_size() <= 3 &&
         std::all_of(std::begin(counts), std::end(counts), [](int32_t count) { return count >= 0; }) &&
         CleanMetrics(step->mutable_metrics());
}

absl::Status CheckBuffer(const v1::ExecutionBuffer& wanted, const executor::SharedBuffer& place) {
  if (place.ipc_handle.empty()) {
    return InvalidArgument(fmt::format("buffer {} is not on a GPU: only a GPU has counters", wanted.name()));
  }
  if (place.payload_bytes < wanted.bytes() || place.payload_offset < 0 || place.payload_offset % 256 != 0) {
    return InvalidArgument(fmt::format("buffer {} has {} bytes at {} of its allocation, the plan needs {}",
                                       wanted.name(), place.payload_bytes, place.payload_offset, wanted.bytes()));
  }
  return absl::OkStatus();
}

absl::StatusOr<wire::Request> MakeRequest(const executor::ExecutorSpec& spec, const ProfileRequest& request,
                                          const ProcessProfilerOptions& options) {
  if (request.slot < 0 || static_cast<size_t>(request.slot) >= spec.slots.size()) {
    return InvalidArgument(
        fmt::format("there is no slot {} to profile in: the spec has {}", request.slot, spec.slots.size()));
  }
  const std::vector<executor::SharedBuffer>& slot = spec.slots[static_cast<size_t>(request.slot)];
  if (slot.size() != static_cast<size_t>(spec.plan.buffers_size())) {
    return InvalidArgument(
        fmt::format("a slot has {} buffers, the plan has {}", slot.size(), spec.plan.buffers_size()));
  }
  if (spec.plan.steps_size() == 0) return InvalidArgument("a plan without steps has nothing to profile");
  wire::Request message;
  executor::wire::Spec* wired = message.mutable_spec();
  *wired->mutable_plan() = spec.plan;
  executor::wire::Slot* target = wired->add_slots();
  for (size_t b = 0; b < slot.size(); ++b) {
    WARPSMITH_RETURN_IF_ERROR(CheckBuffer(spec.plan.buffers(static_cast<int>(b)), slot[b]));
    executor::wire::Buffer* buffer = target->add_buffers();
    buffer->set_ipc_handle(slot[b].ipc_handle);
    buffer->set_allocation_bytes(slot[b].allocation_bytes);
    buffer->set_payload_offset(slot[b].payload_offset);
    buffer->set_payload_bytes(slot[b].payload_bytes);
  }
  // A plan of memsets, copies and library steps has no compiled code.
  if (spec.plan.kernel_symbols_size() > 0) {
    WARPSMITH_ASSIGN_OR_RETURN(*wired->mutable_artifact(), ReadFile(spec.artifact_path, kMaxArtifact));
  }
  message.set_seconds(request.limit_seconds * kShareOfRuns);
  message.set_measured_ms(request.measured_ms);
  for (const std::string& path : options.cupti_paths) message.add_cupti_paths(path);
  for (const std::string& folder : options.library_folders) message.add_library_folders(folder);
  return message;
}

}  // namespace

absl::StatusOr<v1::Profile> ReadReply(std::string_view reply, const v1::ExecutionPlan& plan) {
  wire::Reply message;
  if (!message.ParseFromArray(reply.data(), static_cast<int>(reply.size()))) {
    return FailedPrecondition("the profiler's reply cannot be read: the candidate wrote to it");
  }
  if (!message.error().empty()) return FailedPrecondition(Clean(message.error(), kMaxText));
  v1::Profile profile = std::move(*message.mutable_profile());
  profile.set_unavailable_reason(Clean(profile.unavailable_reason(), kMaxText));
  profile.set_chip(Clean(profile.chip(), 32));
  bool sane = profile.steps_size() <= kMaxSteps && CleanMetrics(profile.mutable_metrics()) && Sane(profile.plan_ms()) &&
              Sane(profile.kernel_ms()) && Sane(profile.seconds()) && profile.passes() >= 0;
  for (v1::ProfileStep& step : *profile.mutable_steps()) sane = sane && CleanStep(plan, &step);
  if (!sane) return FailedPrecondition("the profiler's reply holds impossible numbers: the candidate wrote to it");
  profile.set_launches(plan.steps_size());
  Conclude(profile);
  return profile;
}

absl::StatusOr<v1::Profile> ProcessProfiler::Run(const executor::ExecutorSpec& spec, const ProfileRequest& request) {
  WARPSMITH_ASSIGN_OR_RETURN(const wire::Request message, MakeRequest(spec, request, options_));
  ChildOptions child;
  child.ignore_stop_signals = true;
  child.arguments = {options_.program};
  if (!options_.restrict_files) child.arguments.push_back("--open-files");
  child.environment = options_.environment;
  child.max_output_bytes = kMaxReply;
  child.file_bytes = 64u << 20;
  WARPSMITH_ASSIGN_OR_RETURN(const ChildExit exit,
                             RunChild(child, message.SerializeAsString(), FromSeconds(request.limit_seconds)));
  if (exit.timed_out) {
    return DeadlineExceeded(fmt::format("the profile took more than its limit of {:g} s", request.limit_seconds));
  }
  if (exit.signaled || exit.exit_code != 0 || exit.output_truncated) {
    return FailedPrecondition(fmt::format("the profiler ended without a profile, {}: {}", exit.Describe(),
                                          Clean(exit.standard_error, kMaxText)));
  }
  return ReadReply(exit.standard_output, spec.plan);
}

}  // namespace warpsmith::profile
