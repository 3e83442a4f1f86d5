#include "gpu_worker/device/cuda/health.h"

#include <catch2/catch.hpp>

#include "gpu_worker/device/cuda/gpu_keeper.h"

namespace warpsmith::cuda {
namespace {

absl::Status Failed(absl::StatusCode code, const char* text) { return MakeStatus(code, text); }

TEST_CASE("a crash makes a GPU suspect until the canary passes", "[unit]") {
  GpuHealthTracker tracker;
  CHECK(tracker.MayUse().ok());
  tracker.OnExecutorEnd(ExecutorEnd::kClean, "");
  CHECK(tracker.health() == GpuHealth::kHealthy);
  tracker.OnExecutorEnd(ExecutorEnd::kAbnormal, "the executor was killed by SIGSEGV");
  CHECK(tracker.canary_due());
  CHECK(tracker.MayUse().code() == absl::StatusCode::kUnavailable);
  CHECK(tracker.reason() == "the executor was killed by SIGSEGV");
  tracker.OnCanary(absl::OkStatus());
  CHECK(tracker.MayUse().ok());
  CHECK(tracker.reason().empty());
}

TEST_CASE("canaries that keep failing retire a GPU, and one that passes starts the count again", "[unit]") {
  GpuHealthTracker tracker;
  tracker.OnExecutorEnd(ExecutorEnd::kAbnormal, "crash");
  const absl::Status slow = Failed(absl::StatusCode::kOutOfRange, "slow");
  tracker.OnCanary(slow);
  tracker.OnCanary(Failed(absl::StatusCode::kDeadlineExceeded, "late"));
  CHECK(tracker.health() == GpuHealth::kSuspect);
  tracker.OnCanary(absl::OkStatus());
  CHECK(tracker.health() == GpuHealth::kHealthy);
  tracker.OnExecutorEnd(ExecutorEnd::kAbnormal, "crash");
  for (int i = 0; i < 3; ++i) {
    CHECK(tracker.health() == GpuHealth::kSuspect);
    tracker.OnCanary(slow);
  }
  CHECK(tracker.health() == GpuHealth::kRetired);
  CHECK(tracker.MayUse().code() == absl::StatusCode::kDataLoss);
  tracker.OnCanary(absl::OkStatus());
  tracker.OnUnkillableGone();
  CHECK(tracker.health() == GpuHealth::kRetired);
}

TEST_CASE("a wrong result retires a GPU at once", "[unit]") {
  GpuHealthTracker tracker;
  tracker.OnExecutorEnd(ExecutorEnd::kAbnormal, "crash");
  tracker.OnCanary(Failed(absl::StatusCode::kDataLoss, "element 3 is wrong"));
  CHECK(tracker.health() == GpuHealth::kRetired);
  CHECK(Message(tracker.MayUse()).find("element 3 is wrong") != std::string::npos);
}

TEST_CASE("a process that cannot be killed wedges a GPU until it has gone and the canary has passed", "[unit]") {
  GpuHealthTracker tracker;
  tracker.OnExecutorEnd(ExecutorEnd::kUnkillable, "process 7 hangs");
  CHECK(tracker.MayUse().code() == absl::StatusCode::kFailedPrecondition);
  CHECK_FALSE(tracker.canary_due());
  tracker.OnCanary(absl::OkStatus());
  tracker.OnExecutorEnd(ExecutorEnd::kAbnormal, "crash");
  CHECK(tracker.health() == GpuHealth::kWedged);
  tracker.OnUnkillableGone();
  CHECK(tracker.canary_due());
  tracker.OnCanary(Failed(absl::StatusCode::kAborted, "the canary hangs too"));
  CHECK(tracker.health() == GpuHealth::kWedged);
  tracker.OnUnkillableGone();
  tracker.OnCanary(absl::OkStatus());
  CHECK(tracker.health() == GpuHealth::kHealthy);
}

TEST_CASE("Xids: who is to blame and what becomes of the GPU", "[unit]") {
  struct Row {
    int xid;
    bool candidate_to_blame;
    GpuHealth health;
  };
  const Row row = GENERATE(
      Row{13, true, GpuHealth::kSuspect}, Row{31, true, GpuHealth::kSuspect}, Row{43, true, GpuHealth::kSuspect},
      Row{45, true, GpuHealth::kSuspect}, Row{94, false, GpuHealth::kSuspect}, Row{46, false, GpuHealth::kRetired},
      Row{48, false, GpuHealth::kRetired}, Row{79, false, GpuHealth::kRetired}, Row{95, false, GpuHealth::kRetired},
      Row{109, false, GpuHealth::kRetired}, Row{119, false, GpuHealth::kRetired}, Row{154, false, GpuHealth::kRetired},
      Row{63, true, GpuHealth::kHealthy}, Row{99999, true, GpuHealth::kSuspect});
  INFO(row.xid);
  GpuHealthTracker tracker;
  CHECK(tracker.OnXid(row.xid) == row.candidate_to_blame);
  CHECK(tracker.health() == row.health);
  if (row.health != GpuHealth::kHealthy) CHECK(tracker.reason() == XidText(row.xid));
}

TEST_CASE("the keeper runs the canary when it is due and not otherwise", "[unit]") {
  FakeCanary canary;
  FakeXidWatch xids;
  GpuKeeper keeper(canary, &xids);
  CHECK(keeper.Ready().ok());
  CHECK(canary.checks == 0);
  CHECK(keeper.OnExecutorEnd(ExecutorEnd::kAbnormal, "crash"));
  CHECK(keeper.Ready().ok());
  CHECK(keeper.Ready().ok());
  CHECK(canary.checks == 1);
  xids.coming = {94};
  CHECK_FALSE(keeper.OnExecutorEnd(ExecutorEnd::kAbnormal, "crash"));
  canary.result = Failed(absl::StatusCode::kOutOfRange, "slow");
  CHECK(keeper.Ready().code() == absl::StatusCode::kUnavailable);
  canary.result = absl::OkStatus();
  CHECK(keeper.Ready().ok());
  xids.coming = {31, 79};
  CHECK(keeper.Ready().code() == absl::StatusCode::kDataLoss);
  CHECK(keeper.health() == GpuHealth::kRetired);
  CHECK(keeper.reason().find("79") != std::string::npos);
  CHECK(canary.checks == 3);
}

TEST_CASE("the keeper does without events", "[unit]") {
  FakeCanary canary;
  GpuKeeper keeper(canary, nullptr);
  CHECK(keeper.OnExecutorEnd(ExecutorEnd::kAbnormal, "crash"));
  canary.result = Failed(absl::StatusCode::kAborted, "hangs");
  CHECK(keeper.Ready().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(keeper.Ready().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(canary.checks == 1);
  keeper.OnUnkillableGone();
  canary.result = absl::OkStatus();
  CHECK(keeper.Ready().ok());
}

}  // namespace
}  // namespace warpsmith::cuda
