// A Python process that runs a PyTorch module on buffers of ours, locked down by warpsmith-host-code. It runs from a
// request to its answer only: before and after it, the whole group of processes is stopped, so that nothing of it runs
// while inputs are made, outputs are judged or others are timed. Times are this process's clock around both.
// Threading: one thread at a time. Units: seconds, bytes.
// Errors: a Status is the machine's fault; what the code did is in the answer. After an answer with `ended` there is no
// process any more.
#ifndef WARPSMITH_GPU_WORKER_HOST_CODE_HOST_CODE_PROCESS_H_
#define WARPSMITH_GPU_WORKER_HOST_CODE_HOST_CODE_PROCESS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/child_process.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/json.h"
#include "common/status.h"
#include "gpu_worker/host_code/sandbox_paths.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::host_code {

struct HostCodeProcessOptions {
  std::string launcher;                            // warpsmith-host-code
  std::string python;                              // absolute path
  SandboxPaths paths;                              // of MachinePaths
  std::string device = "cpu";                      // or cuda:0, with an environment in which that is the one
  std::map<std::string, std::string> environment;  // beside HostCodeEnvironment's
  std::string buffer_folder;                       // without a GPU: where the shared buffers lie
  int threads = 1;                                 // of PyTorch
  uint64_t memory_bytes = 0;                       // beyond an idle PyTorch process, of the host
  uint64_t file_bytes = uint64_t{1} << 30;         // of one file
  bool reference = false;                          // runs the problem's own module: reads the oracle's package too
};

struct HostCodeAnswer {
  v1::Outcome outcome = v1::OUTCOME_OK;
  std::string reason;   // the fault's kind
  std::string message;  // plain text
  Json reply;
  double seconds = 0;  // from before the request until the answer was there
  bool ended = false;
};

class HostCodeProcess {
 public:
  // Without waiting for it: importing PyTorch takes seconds.
  static absl::StatusOr<std::unique_ptr<HostCodeProcess>> Launch(const HostCodeProcessOptions& options);
  ~HostCodeProcess();

  // Waits until it has imported PyTorch, and stops it. Once, before anything else.
  absl::Status Greet();

  enum class After { kStop, kKill };
  // With kKill everything that it started ends with the answer, on the GPU too.
  HostCodeAnswer Ask(const std::string& command, Json request, Duration limit, After after = After::kStop);
  // The same while no candidate's code is in it: whatever goes wrong is the machine's fault.
  absl::StatusOr<Json> Command(const std::string& command, Json request, Duration limit);

  // Kills it and all that it started.
  void End();

 private:
  HostCodeProcess(TemporaryDirectory folder, uint64_t memory_bytes)
      : folder_(std::move(folder)), memory_bytes_(memory_bytes) {}
  absl::StatusOr<std::string> ReadAnswer(TimePoint deadline);
  HostCodeAnswer Taken(const std::string& line);
  HostCodeAnswer Ended(const absl::Status& why, const std::string& doing, Duration limit);
  bool HasEnded(Duration limit) const;
  uint64_t ResidentBytes() const;

  TemporaryDirectory folder_;
  std::unique_ptr<ChildProcess> child_;
  uint64_t memory_bytes_;
  int number_ = 0;  // of the last request
};

}  // namespace warpsmith::host_code

#endif  // WARPSMITH_GPU_WORKER_HOST_CODE_HOST_CODE_PROCESS_H_
