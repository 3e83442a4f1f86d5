#include "gpu_worker/profile/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu_worker/executor/cuda/context.h"
#include "gpu_worker/executor/cuda/ipc_buffers.h"
#include "gpu_worker/executor/cuda/plan_runner.h"
#include "gpu_worker/executor/cuda/sandbox.h"
#include "gpu_worker/executor/plan_bounds.h"
#include "gpu_worker/library/shared_library.h"
#include "gpu_worker/profile/plan_profiler.h"
#include "gpu_worker/profile/profile.pb.h"

namespace warpsmith::profile {
namespace {

std::string ReadAll(int descriptor) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

absl::Status ToStatus(const executor::MaybeFault& fault) {
  if (!fault) return absl::OkStatus();
  return FailedPrecondition(fmt::format("{}: {}", fault->where, fault->message));
}

// The driver and CUPTI may read what they are made of and write where programs keep scratch files. What the kernel
// cannot restrict stays open: a candidate is device code and has nothing to open a file with.
void RestrictDriver(const wire::Request& request) {
  std::vector<std::string> folders = library::FindLibraryFolders();
  folders.insert(folders.end(), request.library_folders().begin(), request.library_folders().end());
  for (const std::string& path : request.cupti_paths()) {
    folders.push_back(std::filesystem::path(path).parent_path().string());
  }
  const char* library_path = std::getenv("LD_LIBRARY_PATH");
  SandboxOptions options = executor::DriverSandbox(folders, library_path == nullptr ? "" : library_path);
  options.write_paths.emplace_back("/tmp");
  static_cast<void>(RestrictFiles(options));
}

absl::StatusOr<v1::Profile> Profiled(const wire::Request& request, const ChildSettings& settings) {
  const v1::ExecutionPlan& plan = request.spec().plan();
  WARPSMITH_RETURN_IF_ERROR(executor::CheckPlanBounds(plan));
  if (request.spec().slots_size() != 1) return InvalidArgument("a profile is of one slot");
  if (settings.restrict_files) RestrictDriver(request);
  // CUPTI is there before the driver starts, as it wants to be.
  const absl::StatusOr<CuptiApi> cupti = CuptiApi::Load({request.cupti_paths().begin(), request.cupti_paths().end()});
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<executor::CudaContext> context, executor::CudaContext::Create());
  executor::IpcBuffers buffers;
  WARPSMITH_RETURN_IF_ERROR(buffers.Open(context->api(), request.spec()));
  executor::CudaPlanRunner runner(plan, *context, buffers);
  WARPSMITH_RETURN_IF_ERROR(ToStatus(runner.Load(request.spec().artifact())));
  if (plan.uses_library()) {
    WARPSMITH_RETURN_IF_ERROR(
        ToStatus(runner.PrepareLibrary({request.library_folders().begin(), request.library_folders().end()})));
  }
  const executor::StepList prepare = executor::StepList::kPrepare;
  WARPSMITH_RETURN_IF_ERROR(ToStatus(runner.Enqueue(prepare, 0, 0, runner.Count(prepare))));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(context->api(), context->Synchronize(), "the plan's prepare steps"));
  PlanProfilerOptions options;
  options.seconds = request.seconds();
  options.measured_ms = request.measured_ms();
  return PlanProfiler(*context, runner, plan, options).Run(cupti);
}

}  // namespace

int RunChildProcess(const ChildSettings& settings) {
  // What libraries print must not get among the reply.
  const int reply_to = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (reply_to < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) return 1;
  // A crash is not to leave a candidate's memory behind in a file.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  wire::Request request;
  wire::Reply reply;
  if (!request.ParseFromString(ReadAll(STDIN_FILENO))) {
    reply.set_error("the profiler's request cannot be read");
  } else if (absl::StatusOr<v1::Profile> profile = Profiled(request, settings); profile.ok()) {
    *reply.mutable_profile() = std::move(*profile);
  } else {
    reply.set_error(Message(profile.status()));
  }
  const bool written = reply.SerializeToFileDescriptor(reply_to);
  // Without the driver's and CUPTI's farewells, which may wait for a device that is lost.
  std::fflush(nullptr);
  _exit(written ? 0 : 1);
}

}  // namespace warpsmith::profile
