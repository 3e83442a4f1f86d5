#include "gpu_worker/executor/emulated/job.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "common/file.h"
#include "common/sandbox.h"
#include "gpu_worker/device/emulated/device.h"
#include "gpu_worker/executor/emulated/buffer_map.h"
#include "gpu_worker/executor/emulated/plan_runner.h"
#include "gpu_worker/executor/executor.pb.h"
#include "gpu_worker/executor/plan_bounds.h"
#include "gpu_worker/executor/report_channel.h"

namespace warpsmith::executor {
namespace {

constexpr size_t kMaxArtifactBytes = 256u << 20;
constexpr int64_t kDefaultAddressSpace = int64_t{2} << 30;
// More than the second-level caches of common processors hold.
constexpr size_t kFlushBytes = 32u << 20;

v1::Outcome ToOutcome(device::FaultKind kind) {
  switch (kind) {
    case device::FaultKind::kIllegalAccess:
      return v1::OUTCOME_ILLEGAL_ACCESS;
    case device::FaultKind::kOutOfMemory:
      return v1::OUTCOME_OUT_OF_MEMORY;
    case device::FaultKind::kNeedsGpu:
      return v1::OUTCOME_NEEDS_GPU;
    case device::FaultKind::kLaunchError:
      break;
  }
  return v1::OUTCOME_LAUNCH_ERROR;
}

void OnFault(device::FaultKind kind, const char* message) {
  Channel().SendLast(ToOutcome(kind), message, EmulatedPlanRunner::Where(), device::Printed().text());
}

[[noreturn]] void Stop(const device::LaunchFault& fault) {
  Channel().SendLast(ToOutcome(fault.kind), fault.message.c_str(), "executor", device::Printed().text());
}

// What the process has mapped so far, in bytes.
uint64_t MappedBytes() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return uint64_t{pages} * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Processor time: the emulated device shares its cores with whatever else runs, and a wait for a core is no work of the
// candidate's.
double Seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Everything that must not be a candidate's to do, done before it is loaded.
class EmulatedJob final : public ChildJob {
 public:
  absl::StatusOr<std::string> Prepare(wire::Spec spec) override {
    spec_ = std::move(spec);
    WARPSMITH_RETURN_IF_ERROR(CheckPlanBounds(spec_.plan()));
    WARPSMITH_RETURN_IF_ERROR(buffers_.Map(spec_));
    WARPSMITH_ASSIGN_OR_RETURN(std::string artifact, ReadFile(spec_.artifact_path(), kMaxArtifactBytes));
    candidate_ = PrepareCandidate(std::move(artifact));
    memory_file_ = memfd_create("candidate", MFD_CLOEXEC);
    if (memory_file_ < 0) return Internal("cannot make a memory file");
    void* flush =
        mmap(nullptr, kFlushBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (flush != MAP_FAILED) flush_ = static_cast<char*>(flush);
    device::StartDevice(OnFault);

    SandboxOptions sandbox;
    sandbox.syscalls = SyscallPolicy::kCompute;
    [[maybe_unused]] int64_t room =
        spec_.address_space_bytes() > 0 ? spec_.address_space_bytes() : kDefaultAddressSpace;
#if !defined(__SANITIZE_ADDRESS__)  // which reserves terabytes
    sandbox.address_space_bytes = MappedBytes() + static_cast<uint64_t>(room);
#endif
    WARPSMITH_RETURN_IF_ERROR(EnterSandbox(sandbox));
    return std::string();
  }

  wire::Report Run(const wire::Request& request) override {
    if (runner_ == nullptr) Load();
    wire::Report report;
    int first = std::clamp(request.unmeasured_runs(), 0, kMaxRuns);
    int runs = std::clamp(request.runs(), 0, kMaxRuns);
    PrepareSlots(request);
    for (int i = 0; i < first + runs; ++i) {
      int slot = request.slots_size() == 0 ? 0 : request.slots(i % request.slots_size());
      if (request.cold()) Flush();
      uint64_t seed = request.order_seed() == 0 ? 0 : request.order_seed() + static_cast<uint64_t>(i);
      double start = Seconds();
      std::optional<device::LaunchFault> fault = runner_->Run(slot, seed, request.shared_fill());
      double end = Seconds();
      if (fault) Stop(*fault);
      if (i >= first) report.add_run_seconds(end - start);
    }
    report.set_outcome(v1::OUTCOME_OK);
    report.set_prepare_seconds(prepare_seconds_);
    if (device::Printed().size() > 0) {
      report.set_message(fmt::format("printed: {}", device::Printed().text()));
      if (device::Printed().dropped() > 0) {
        *report.mutable_message() += fmt::format(" [and {} characters or calls more]", device::Printed().dropped());
      }
    }
    device::Printed().Clear();
    return report;
  }

 private:
  // What is wrong with the file is the candidate's fault, and told when it is asked to run.
  absl::Status PrepareCandidate(std::string artifact) {
    WARPSMITH_ASSIGN_OR_RETURN(image_, device::PrepareModule(std::move(artifact)));
    WARPSMITH_ASSIGN_OR_RETURN(shared_,
                               device::SharedMemory::Create(image_.static_shared_bytes, image_.shared_alignment,
                                                            MaxDynamicSharedBytes(spec_.plan())));
    return absl::OkStatus();
  }

  void Load() {
    if (!candidate_.ok()) {
      bool memory = candidate_.code() == absl::StatusCode::kResourceExhausted;
      Stop({memory ? device::FaultKind::kOutOfMemory : device::FaultKind::kLaunchError, Message(candidate_)});
    }
    absl::StatusOr<std::unique_ptr<device::Module>> module = device::Module::Load(image_, memory_file_);
    if (!module.ok()) Stop({device::FaultKind::kLaunchError, Message(module.status())});
    module_ = std::move(*module);
    runner_ = std::make_unique<EmulatedPlanRunner>(spec_.plan(), buffers_, *module_, *shared_);
    if (std::optional<device::LaunchFault> fault = runner_->Load()) Stop(*fault);
  }

  // Parameters may have been drawn anew since the last request.
  void PrepareSlots(const wire::Request& request) {
    std::set<int> slots(request.slots().begin(), request.slots().end());
    if (slots.empty()) slots.insert(0);
    for (int slot : slots) {
      if (slot < 0 || slot >= buffers_.slots()) Stop({device::FaultKind::kLaunchError, "no such slot"});
      if (spec_.plan().prepare_steps_size() == 0) continue;
      double start = Seconds();
      if (auto fault = runner_->Prepare(slot, request.order_seed(), request.shared_fill())) Stop(*fault);
      prepare_seconds_ = Seconds() - start;
    }
  }

  void Flush() {
    if (flush_ == nullptr) return;
    for (size_t at = 0; at < kFlushBytes; at += 64) flush_[at] = static_cast<char>(flush_[at] + 1);
  }

  wire::Spec spec_;
  BufferMap buffers_;
  absl::Status candidate_;
  device::ModuleImage image_;
  std::unique_ptr<device::SharedMemory> shared_;
  std::unique_ptr<device::Module> module_;
  std::unique_ptr<EmulatedPlanRunner> runner_;
  int memory_file_ = -1;
  char* flush_ = nullptr;
  double prepare_seconds_ = 0;
};

}  // namespace

// Its fibers are never unwound: whoever owns it lets it live until the process ends.
std::unique_ptr<ChildJob> MakeEmulatedJob() { return std::make_unique<EmulatedJob>(); }

}  // namespace warpsmith::executor
