#include "gpu_worker/compile/child_job.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "common/sandbox.h"
#include "gpu_worker/compile/host_job.h"
#include "gpu_worker/compile/nvrtc_api.h"
#include "gpu_worker/compile/nvrtc_job.h"
#include "gpu_worker/compile/report.h"

namespace warpsmith::compile {
namespace {

constexpr std::string_view kMagic = "wsc1";

wire::Report RunNvrtc(const wire::Job& job) {
  absl::StatusOr<std::unique_ptr<NvrtcApi>> nvrtc = NvrtcApi::Load(job.nvrtc_path(), job.builtins_path());
  if (!nvrtc.ok()) return InfraError(Message(nvrtc.status()));
  if (job.mode() == wire::MODE_PROBE) {
    wire::Report report = MakeReport(v1::OUTCOME_OK, "", "");
    report.set_nvrtc_version((*nvrtc)->version());
    return report;
  }
  SandboxOptions sandbox;
  sandbox.read_paths.assign(job.include_folders().begin(), job.include_folders().end());
  sandbox.syscalls = SyscallPolicy::kCompute;
  sandbox.cpu_seconds = job.cpu_seconds();
  sandbox.address_space_bytes = job.memory_bytes();
  if (absl::Status status = EnterSandbox(sandbox); !status.ok()) return InfraError(Message(status));
  return CompileWithNvrtc(job, **nvrtc);
}

wire::Report RunHost(const wire::Job& job) {
  if (chdir(job.work_folder().c_str()) != 0) return InfraError(ErrnoMessage("the compiler's work folder", errno));
  HostStreams streams;
  streams.null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  streams.log = open("log", O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (streams.null < 0 || streams.log < 0) return InfraError(ErrnoMessage("the compiler's work folder", errno));
  SandboxOptions sandbox;
  sandbox.read_paths.assign(job.host().read_paths().begin(), job.host().read_paths().end());
  sandbox.write_paths = {job.work_folder()};
  sandbox.allow_execute = true;
  sandbox.syscalls = SyscallPolicy::kCompiler;
  sandbox.cpu_seconds = job.cpu_seconds();
  sandbox.address_space_bytes = job.memory_bytes();
  sandbox.file_bytes = job.artifact_bytes();
  if (absl::Status status = EnterSandbox(sandbox); !status.ok()) return InfraError(Message(status));
  return CompileForHost(job, streams);
}

}  // namespace

wire::Report RunJob(const wire::Job& job) { return job.mode() == wire::MODE_HOST ? RunHost(job) : RunNvrtc(job); }

std::string Frame(const std::string& message) {
  uint64_t size = message.size();
  std::string out(kMagic);
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  return out + message;
}

absl::StatusOr<std::string> Unframe(std::string_view data) {
  uint64_t size = 0;
  constexpr size_t kHeader = kMagic.size() + sizeof size;
  if (data.size() < kHeader || data.substr(0, kMagic.size()) != kMagic) return InvalidArgument("not a framed message");
  std::memcpy(&size, data.data() + kMagic.size(), sizeof size);
  if (size != data.size() - kHeader) return InvalidArgument("a framed message of another size");
  return std::string(data.substr(kHeader));
}

}  // namespace warpsmith::compile
