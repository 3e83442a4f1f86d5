// One simulated worker: its channel, its stream, and what it has in hand. See worker_fleet.h.
// Threading: safe from any thread.
#ifndef WARPSMITH_BENCHMARKS_COORDINATOR_SIMULATED_WORKER_H_
#define WARPSMITH_BENCHMARKS_COORDINATOR_SIMULATED_WORKER_H_

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "benchmarks/coordinator/worker_fleet.h"
#include "warpsmith/v1/worker.grpc.pb.h"

namespace warpsmith::bench {

class SessionStream;

class SimulatedWorker {
 public:
  SimulatedWorker(WorkerFleet& fleet, int number);
  ~SimulatedWorker();  // ends the stream and waits for that

  void Open();
  // Sends a Sync if something changed since the last one, or in any case; opens the stream again if it ended.
  void Tick(bool in_any_case);

 private:
  friend class SessionStream;
  void Handle(const v1::CoordinatorMessage& message);
  void Accept(const v1::Assignment& assignment);
  void Finish(v1::TaskResult result);
  void Closed(const SessionStream* stream);
  void Ended();  // the stream is gone
  void SendSyncLocked();

  WorkerFleet& fleet_;
  const std::string worker_id_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::WorkerService::Stub> stub_;
  std::mutex mutex_;
  std::condition_variable closed_;
  SessionStream* stream_ = nullptr;  // guarded by mutex_, as all below
  int streams_ = 0;                  // that are not gone yet
  int fetching_ = 0;                 // sources under way
  bool welcomed_ = false;
  bool ending_ = false;
  bool changed_ = false;
  bool drains_ = false;                 // as the last Sync said
  std::map<int64_t, int64_t> in_hand_;  // task to epoch
  std::map<int64_t, v1::TaskResult> unacknowledged_;
};

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_COORDINATOR_SIMULATED_WORKER_H_
