// A worker's life: connect, say Hello with all that is in hand, take assignments up to its slots, run them, spool and
// send results until they are acknowledged, say the full state again every third of a lease, reconnect with jittered
// backoff, drain when asked. The lease is the coordinator's; a worker that is cut off goes on with what it holds.
// Threading: Run blocks its caller until stopped; everything else is inside.
#ifndef WARPSMITH_GPU_WORKER_SESSION_WORKER_H_
#define WARPSMITH_GPU_WORKER_SESSION_WORKER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "gpu_worker/session/coordinator_stream.h"
#include "gpu_worker/session/result_spool.h"
#include "gpu_worker/session/task_runner.h"

namespace warpsmith::session {

struct WorkerOptions {
  std::string worker_id;  // stable across restarts
  std::string boot_id;    // fresh at each start
  v1::DeviceDescription device;
  int slots = 2;              // assignments in hand: one on the device while the next compiles
  double drain_seconds = 60;  // a drain waits this long for what runs
  std::string node;           // for people and metrics: the machine, and the device's number there
  std::string gpu;
  std::function<v1::DeviceCondition()> condition;  // how the device does now; must not wait. Unset: it is well
};

class Worker final : public StreamListener {
 public:
  Worker(WorkerOptions options, CoordinatorConnector& connector, TaskRunner& runner, ResultSpool& spool, Clock& clock);
  ~Worker() override;

  // Until `stop` is asked for (then drains) or the coordinator says Drain.
  void Run(std::stop_token stop);

  // Called by the stream.
  void OnMessage(v1::CoordinatorMessage message) override;
  void OnClosed(const absl::Status& status) override;

 private:
  struct Task {
    v1::Assignment assignment;
    std::stop_source stop;
    bool started = false;
    bool finished = false;  // its result is in the spool
  };

  void Connect();
  void Report(const absl::Status& status, bool news);  // why the stream ended, where that is new
  void Handle(const v1::CoordinatorMessage& message);
  void Accept(const v1::Assignment& assignment);
  void Cancel(int64_t task_id, int64_t epoch);
  void Acknowledge(const v1::ResultAck& ack);
  void FinishTask(int64_t task_id, v1::TaskResult result);
  void StartDrain();
  void SendSync();
  void Send(v1::WorkerMessage message);
  void FillRunning(google::protobuf::RepeatedPtrField<v1::RunningTask>* running) const;
  int Unfinished() const;
  void SlotLoop();

  const WorkerOptions options_;
  CoordinatorConnector& connector_;
  TaskRunner& runner_;
  ResultSpool& spool_;
  Clock& clock_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::CoordinatorMessage> inbox_;
  std::unique_ptr<CoordinatorStream> stream_;
  bool connected_ = false;
  bool closed_ = false;  // the stream has ended and waits to be replaced
  absl::Status close_status_;
  std::string logged_reason_;
  std::map<int64_t, Task> tasks_;  // by task id: in hand, until acknowledged
  std::deque<int64_t> waiting_;    // not started
  double lease_seconds_ = 15;
  bool draining_ = false;
  bool quit_slots_ = false;
  bool sync_due_ = false;
  TimePoint next_connect_{};
  double backoff_seconds_ = 0;
  std::mt19937_64 random_;
  std::vector<std::jthread> slots_;
};

}  // namespace warpsmith::session

#endif  // WARPSMITH_GPU_WORKER_SESSION_WORKER_H_
