#include "gpu_worker/executor/child.h"

#include <unistd.h>

#include <utility>

#include "gpu_worker/executor/report_channel.h"

namespace warpsmith::executor {
namespace {

absl::StatusOr<std::string> Prepare(ChildJob& job, const std::string& text) {
  wire::Spec spec;
  if (!spec.ParseFromString(text)) return Internal("the spec cannot be read");
  if (!Channel().SetNonce(spec.nonce())) return Internal("the spec has no nonce");
  return job.Prepare(std::move(spec));
}

}  // namespace

int RunChildProcess(ChildJob& job) {
  if (!Channel().Open()) return 1;
  job.Warm();
  if (!Channel().SendWarm()) return 1;
  std::string text = ReportChannel::ReadFrame();
  if (text.empty()) return 0;  // the pool is going away
  absl::StatusOr<std::string> ready = Prepare(job, text);
  text = {};
  wire::Report report;
  report.set_outcome(ready.ok() ? v1::OUTCOME_OK : v1::OUTCOME_INFRA_ERROR);
  report.set_message(ready.ok() ? *ready : Message(ready.status()));
  if (!Channel().Send(report.SerializeAsString()) || !ready.ok()) _exit(1);
  for (;;) {
    wire::Request request;
    std::string frame = ReportChannel::ReadFrame();
    if (frame.empty()) _exit(0);
    if (!request.ParseFromString(frame)) _exit(2);
    if (!Channel().Send(job.Run(request).SerializeAsString())) _exit(3);
  }
}

}  // namespace warpsmith::executor
