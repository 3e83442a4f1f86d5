// A worker in virtual time, with the real one's rules (gpu_worker/session/worker.cc): it lists all it has at every
// Hello and Sync, sends a result until it is acknowledged, keeps results on disk, drops what it is told to drop. It
// computes nothing: what a kernel's text stands for is its result. It stalls, dies, forgets and repeats itself as
// drawn. Threading: one thread.
#ifndef WARPSMITH_TESTS_SIMULATION_VIRTUAL_WORKER_H_
#define WARPSMITH_TESTS_SIMULATION_VIRTUAL_WORKER_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tests/simulation/world.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::simulation {

class Link;
class VirtualCoordinator;

class VirtualWorker {
 public:
  // `coordinator`: who answers at the service's address; null: nobody.
  VirtualWorker(World& world, std::string id, int slots,
                std::function<std::shared_ptr<VirtualCoordinator>()> coordinator);

  void OnMessage(const std::shared_ptr<Link>& link, const v1::CoordinatorMessage& message);
  void OnClosed(const std::shared_ptr<Link>& link);

  // Frozen for a while: it neither answers nor computes, and then goes on as if nothing had been.
  void Stall(double seconds);
  // Dies and starts again with another boot after a while, with its results on disk or without.
  void Die(bool disk_lost);
  // Ends what it has in hand, takes nothing more, and starts again with another boot.
  void Drain();

  bool HasUnacknowledged() const { return !spool_.empty(); }
  const std::string& id() const { return id_; }

 private:
  struct Task {
    v1::Assignment assignment;
    bool started = false;
    bool finished = false;
  };
  using Key = std::pair<int64_t, int64_t>;  // task, epoch

  void Turn();
  void Start();
  void Connect();
  void SendSync();
  void StartTasks();
  void Run(const v1::Assignment& assignment);
  void Finish(int boot, const v1::Assignment& assignment);
  v1::TaskResult Compute(const v1::Assignment& assignment);
  void Handle(const v1::CoordinatorMessage& message);
  void Accept(const v1::Assignment& assignment);
  void Acknowledge(const v1::ResultAck& ack);
  void Cancel(int64_t task_id, int64_t epoch);
  void FillRunning(google::protobuf::RepeatedPtrField<v1::RunningTask>* running) const;
  void SendResult(const v1::TaskResult& result);
  std::string boot_id() const { return fmt::format("{}-boot{}", id_, boot_); }

  World& world_;
  const std::string id_;
  const int slots_;
  const std::function<std::shared_ptr<VirtualCoordinator>()> coordinator_;
  int boot_ = 0;
  bool alive_ = false;
  bool draining_ = false;
  bool connected_ = false;
  bool sync_due_ = false;
  double lease_seconds_ = 15;
  Micros stalled_until_ = 0;
  Micros next_connect_ = 0;
  Micros next_sync_ = 0;
  std::map<int64_t, Task> tasks_;
  std::deque<int64_t> waiting_;
  std::map<Key, v1::TaskResult> spool_;  // its disk
  std::deque<v1::CoordinatorMessage> inbox_;
  std::shared_ptr<Link> link_;
  Actor turn_;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_VIRTUAL_WORKER_H_
