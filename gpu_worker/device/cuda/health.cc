#include "gpu_worker/device/cuda/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace warpsmith::cuda {
namespace {

struct XidRow {
  int xid;
  XidVerdict verdict;
  const char* text;
};

// Ascending. What is not here is judged by the canary, as a candidate's fault.
constexpr XidRow kXids[] = {
    {13, XidVerdict::kCandidate, "graphics engine exception"},
    {31, XidVerdict::kCandidate, "memory page fault"},
    {32, XidVerdict::kCandidate, "invalid push buffer"},
    {43, XidVerdict::kCandidate, "GPU stopped processing"},
    {45, XidVerdict::kCandidate, "preemptive cleanup"},
    {46, XidVerdict::kRetire, "GPU stopped answering"},
    {48, XidVerdict::kRetire, "double-bit memory error"},
    {61, XidVerdict::kRetire, "internal microcontroller breakpoint"},
    {62, XidVerdict::kRetire, "internal microcontroller halt"},
    {63, XidVerdict::kInformation, "memory row remapped"},
    {64, XidVerdict::kRetire, "memory row could not be remapped"},
    {68, XidVerdict::kCandidate, "video processor exception"},
    {69, XidVerdict::kCandidate, "graphics engine class error"},
    {74, XidVerdict::kRetire, "NVLink error"},
    {79, XidVerdict::kRetire, "GPU has fallen off the bus"},
    {92, XidVerdict::kInformation, "high rate of single-bit memory errors"},
    {94, XidVerdict::kRetry, "contained memory error"},
    {95, XidVerdict::kRetire, "uncontained memory error"},
    {109, XidVerdict::kRetire, "context switch timeout"},
    {119, XidVerdict::kRetire, "GPU firmware does not answer"},
    {120, XidVerdict::kRetire, "GPU firmware error"},
    {140, XidVerdict::kRetire, "unrecovered memory error"},
    {143, XidVerdict::kRetire, "GPU initialization error"},
    {154, XidVerdict::kRetire, "the driver asks for a recovery action"},
};

const XidRow* Find(int xid) {
  const XidRow* row = std::find_if(std::begin(kXids), std::end(kXids), [xid](const XidRow& r) { return r.xid == xid; });
  return row == std::end(kXids) ? nullptr : row;
}

}  // namespace

std::string_view GpuHealthName(GpuHealth health) {
  switch (health) {
    case GpuHealth::kHealthy:
      return "healthy";
    case GpuHealth::kSuspect:
      return "suspect";
    case GpuHealth::kWedged:
      return "wedged";
    case GpuHealth::kRetired:
      return "retired";
  }
  return "unknown";
}

XidVerdict JudgeXid(int xid) {
  const XidRow* row = Find(xid);
  return row == nullptr ? XidVerdict::kCandidate : row->verdict;
}

std::string XidText(int xid) {
  const XidRow* row = Find(xid);
  return row == nullptr ? fmt::format("Xid {}", xid) : fmt::format("Xid {} ({})", xid, row->text);
}

void GpuHealthTracker::Suspect(std::string_view reason) {
  if (health_ == GpuHealth::kWedged || health_ == GpuHealth::kRetired) return;
  health_ = GpuHealth::kSuspect;
  reason_ = reason;
}

void GpuHealthTracker::Wedge(std::string_view reason) {
  if (health_ == GpuHealth::kRetired) return;
  health_ = GpuHealth::kWedged;
  reason_ = reason;
}

void GpuHealthTracker::Retire(std::string_view reason) {
  if (health_ == GpuHealth::kRetired) return;  // the first reason is the cause
  health_ = GpuHealth::kRetired;
  reason_ = reason;
}

void GpuHealthTracker::OnExecutorEnd(ExecutorEnd end, std::string_view what) {
  if (end == ExecutorEnd::kAbnormal) Suspect(what);
  if (end == ExecutorEnd::kUnkillable) Wedge(what);
}

bool GpuHealthTracker::OnXid(int xid) {
  switch (JudgeXid(xid)) {
    case XidVerdict::kInformation:
      return true;
    case XidVerdict::kCandidate:
      Suspect(XidText(xid));
      return true;
    case XidVerdict::kRetry:
      Suspect(XidText(xid));
      return false;
    case XidVerdict::kRetire:
      Retire(XidText(xid));
      return false;
  }
  return true;
}

void GpuHealthTracker::OnUnkillableGone() {
  if (health_ != GpuHealth::kWedged) return;
  health_ = GpuHealth::kSuspect;
  reason_ += "; it has gone since";
}

void GpuHealthTracker::OnCanary(const absl::Status& result) {
  const std::string message = Message(result);
  if (result.ok()) {
    canary_failures_ = 0;
    if (health_ == GpuHealth::kSuspect) {
      health_ = GpuHealth::kHealthy;
      reason_.clear();
    }
    return;
  }
  if (result.code() == absl::StatusCode::kAborted) {
    Wedge(message);
    return;
  }
  if (result.code() == absl::StatusCode::kDataLoss) {
    Retire(message);
    return;
  }
  if (++canary_failures_ >= options_.canary_failures_to_retire) {
    Retire(fmt::format("{} canaries in a row failed; the last: {}", canary_failures_, message));
  } else {
    Suspect(message);
  }
}

absl::Status GpuHealthTracker::MayUse() const {
  switch (health_) {
    case GpuHealth::kHealthy:
      return absl::OkStatus();
    case GpuHealth::kSuspect:
      return Unavailable(fmt::format("the GPU is suspect until a known-good kernel has run: {}", reason_));
    case GpuHealth::kWedged:
      return FailedPrecondition(fmt::format(
          "the GPU is wedged: {}. End the process that holds it (see nvidia-smi), or reboot, then start the worker "
          "again",
          reason_));
    case GpuHealth::kRetired:
      return MakeStatus(
          absl::StatusCode::kDataLoss,
          fmt::format("the GPU is out of service: {}. Look at `dmesg | grep Xid` and nvidia-smi -q, reset or replace "
                      "it, then start the worker again",
                      reason_));
  }
  return Unavailable("the GPU's state is unknown");
}

}  // namespace warpsmith::cuda
