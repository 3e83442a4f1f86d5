// A worker for tests that speaks the real stream but computes nothing: it answers intakes with a fixed signature and
// evaluations with what the candidate's text says (see fake_gateway.h). It reconnects, resends and syncs as a worker
// must. Threading: a thread of its own; the knobs may be turned at any time.
#ifndef WARPSMITH_TESTS_COORDINATOR_SCRIPTED_WORKER_H_
#define WARPSMITH_TESTS_COORDINATOR_SCRIPTED_WORKER_H_

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/queue/task.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::testing {

class ScriptedWorker {
 public:
  // `holding`: as if hold_evaluations had been set before the first task came. Not `emulated`: it says it has a GPU.
  // `spool`: what an earlier boot had finished.
  ScriptedWorker(std::string address, std::string worker_id, std::string boot_id, int slots = 4, bool holding = false,
                 bool emulated = true, const std::vector<v1::TaskResult>& spool = {});
  ~ScriptedWorker();  // ends its stream, as a killed worker's would

  std::atomic<bool> hold{false};                // takes tasks, lists them, but does not finish them
  std::atomic<bool> hold_evaluations{false};    // the same for evaluations alone
  std::atomic<bool> hold_confirmations{false};  // the same for confirmations
  std::atomic<double> confirmation_scale{1};    // of the time that a confirmation finds, over the text's
  std::atomic<bool> confirmation_fails{false};  // confirmations end with wrong_output
  std::atomic<bool> confirmation_ratio{true};   // a GPU's confirmation has a ratio with an interval
  std::atomic<bool> forget{false};              // drops assignments silently
  std::atomic<bool> send_results{true};         // false: finished, but the result stays in the spool
  std::atomic<int> infra_errors{0};             // so many results are infra errors
  std::atomic<int> duplicates{1};               // each result is sent so many times
  std::atomic<bool> mute{false};                // no Sync: as if stalled
  std::string intake_error;                     // set before the first task
  std::string harness_rev;                      // set before the first task
  std::atomic<bool> draining{false};            // says that it drains
  std::atomic<bool> wedged{false};              // says so of its device

  std::vector<v1::Assignment> assignments() const;
  std::vector<v1::ResultAck> acks() const;
  std::vector<queue::TaskKey> cancelled() const;
  std::vector<v1::TaskResult> spool() const;  // finished, not acknowledged
  int connections() const { return connections_; }
  // Sends a result as it stands, whatever the worker runs.
  void SendRaw(const v1::TaskResult& result);

 private:
  struct Stream;
  void Loop();
  void Serve();
  void Handle(const v1::CoordinatorMessage& message);
  v1::TaskResult Compute(const v1::Assignment& assignment);
  void Confirm(const v1::EvaluateTask& task, v1::Evaluation* evaluation) const;
  void Tick(Stream& stream);

  const std::string address_;
  const std::string worker_id_;
  const std::string boot_id_;
  const int slots_;
  const bool emulated_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_, as all below
  std::map<int64_t, v1::Assignment> running_;
  std::map<int64_t, v1::TaskResult> spool_;  // finished, not acknowledged
  std::map<int64_t, bool> sent_;
  std::vector<v1::TaskResult> raw_;
  std::vector<v1::Assignment> assignments_;
  std::vector<v1::ResultAck> acks_;
  std::vector<queue::TaskKey> cancelled_;
  Stream* stream_ = nullptr;
  std::atomic<int> connections_{0};
  std::thread thread_;
};

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_COORDINATOR_SCRIPTED_WORKER_H_
