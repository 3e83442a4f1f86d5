// Several workers, one a GPU, each a process of its own: started, watched, started again when they die, stopped
// together. A GPU that is not well keeps its worker down until a canary has passed, or for good.
// Threading: Run blocks its caller; everything else is inside. Units: seconds.
#ifndef WARPSMITH_GPU_WORKER_SUPERVISOR_H_
#define WARPSMITH_GPU_WORKER_SUPERVISOR_H_

#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "common/child_process.h"
#include "gpu_worker/device/cuda/gpu_probe.h"

namespace warpsmith {

struct SupervisedWorker {
  std::string worker_id;
  std::string gpu_uuid;
  std::string gpu;                     // for people: "GPU 2 (NVIDIA H200)"
  std::vector<std::string> arguments;  // the program and its flags
};

struct SupervisorOptions {
  std::vector<SupervisedWorker> workers;
  double shortest_pause = 1;  // before a dead worker is started again; doubles with every death
  double longest_pause = 60;
  double steady_after = 300;  // a worker that lived so long dies as if for the first time
  double recheck_pause = 60;  // between canaries on a GPU that is not well
  double stop_limit = 90;     // from SIGTERM to SIGKILL
};

class Supervisor {
 public:
  enum class State { kStarting, kRunning, kPausing, kGpuUnwell, kDrained, kRetired, kStopped };

  Supervisor(SupervisorOptions options, cuda::GpuProbe& probe);

  // Until a stop is asked for, or no worker will ever run again. 0, or 1 where the last of them did not end well.
  int Run(std::stop_token stop);

  struct Report {
    State state = State::kStarting;
    int starts = 0;
    int pid = 0;  // of the last start
  };
  std::map<std::string, Report> Reports() const;  // by worker id

 private:
  struct End {
    enum Kind { kStopped, kDrained, kDied, kWedged, kRetired } kind = kDied;
    double seconds = 0;
  };

  void Live(const SupervisedWorker& worker, std::stop_token stop);
  End RunOnce(const SupervisedWorker& worker, const std::stop_token& stop);
  bool StopChild(const SupervisedWorker& worker, ChildProcess& child) const;
  // False once a stop is asked for.
  bool WaitUntilWell(const SupervisedWorker& worker, const std::stop_token& stop);
  void Set(const SupervisedWorker& worker, State state);

  const SupervisorOptions options_;
  cuda::GpuProbe& probe_;
  mutable std::mutex mutex_;
  std::map<std::string, Report> reports_;  // guarded by mutex_
};

}  // namespace warpsmith

#endif  // WARPSMITH_GPU_WORKER_SUPERVISOR_H_
