#include "gpu_worker/executor/cuda/job.h"

#include <fmt/format.h>

#include "gpu_worker/executor/cuda/context.h"
#include "gpu_worker/executor/cuda/ipc_buffers.h"
#include "gpu_worker/executor/cuda/launcher.h"
#include "gpu_worker/executor/cuda/plan_runner.h"
#include "gpu_worker/executor/cuda/sandbox.h"
#include "gpu_worker/executor/cuda/timer.h"
#include "gpu_worker/executor/plan_bounds.h"
#include "gpu_worker/executor/report_channel.h"

namespace warpsmith::executor {
namespace {

[[noreturn]] void Stop(const CudaFault& fault) {
  Channel().SendLast(fault.outcome, fault.message.c_str(), fault.where.c_str(), "");
}

class CudaJob final : public ChildJob {
 public:
  explicit CudaJob(CudaJobOptions options) : options_(std::move(options)) {}

  void Warm() override {
    if (options_.restrict_files) Note(RestrictDriverFiles(options_.library_folders));
    absl::StatusOr<std::unique_ptr<CudaContext>> context = CudaContext::Create();
    warm_ = context.status();
    if (context.ok()) context_ = std::move(*context);
  }

  absl::StatusOr<std::string> Prepare(wire::Spec spec) override {
    WARPSMITH_RETURN_IF_ERROR(warm_);
    spec_ = std::move(spec);
    WARPSMITH_RETURN_IF_ERROR(CheckPlanBounds(spec_.plan()));
    WARPSMITH_RETURN_IF_ERROR(buffers_.Open(context_->api(), spec_));
    runner_ = std::make_unique<CudaPlanRunner>(spec_.plan(), *context_, buffers_);
    launcher_ = std::make_unique<Launcher>(*context_, *runner_, buffers_.slots());
    timer_ = std::make_unique<CudaTimer>(spec_.plan(), *context_, *runner_, *launcher_, buffers_);
    WARPSMITH_RETURN_IF_ERROR(timer_->CreateEvents());
    candidate_ = runner_->Load(spec_.artifact());
    spec_.clear_artifact();
    if (!candidate_ && spec_.plan().uses_library()) candidate_ = runner_->PrepareLibrary(options_.library_folders);
    // What is the candidate's fault is told when it is asked to run.
    if (candidate_ && candidate_->outcome == v1::OUTCOME_INFRA_ERROR) {
      return Internal(fmt::format("{}: {}", candidate_->where, candidate_->message));
    }
    Note(RestrictDriverCalls());
    return note_;
  }

  wire::Report Run(const wire::Request& request) override {
    if (candidate_) Stop(*candidate_);
    wire::Report report;
    if (MaybeFault fault = timer_->Run(request, report)) Stop(*fault);
    report.set_outcome(v1::OUTCOME_OK);
    return report;
  }

 private:
  void Note(const std::string& missing) {
    if (missing.empty()) return;
    if (!note_.empty()) note_ += "; ";
    note_ += missing;
  }

  const CudaJobOptions options_;
  std::string note_;
  absl::Status warm_;
  wire::Spec spec_;
  std::unique_ptr<CudaContext> context_;
  IpcBuffers buffers_;
  std::unique_ptr<CudaPlanRunner> runner_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<CudaTimer> timer_;
  MaybeFault candidate_;
};

}  // namespace

std::unique_ptr<ChildJob> MakeCudaJob(CudaJobOptions options) { return std::make_unique<CudaJob>(std::move(options)); }

}  // namespace warpsmith::executor
