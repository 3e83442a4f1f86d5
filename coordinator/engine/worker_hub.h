// All workers' sessions: takes their messages, renews their leases, records their results, hands out tasks, and rescues
// the tasks of the dead. What a worker says it runs is the truth of the moment (level-triggered): a leased task that it
// does not list for a while goes back into the queue, and a task that it runs without a lease is cancelled.
// Threading: Open, Receive, Closed, Wake and Cancel from any thread, and they only note things; the database's work is
// done on two threads of the hub's own: one records results, many in a transaction, while the other does all the rest
// and alone knows the sessions.
#ifndef WARPSMITH_COORDINATOR_ENGINE_WORKER_HUB_H_
#define WARPSMITH_COORDINATOR_ENGINE_WORKER_HUB_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "coordinator/engine/assignment_maker.h"
#include "coordinator/engine/engine_observer.h"
#include "coordinator/engine/result_recorder.h"
#include "coordinator/engine/worker_connection.h"

namespace warpsmith::engine {

class WorkerHub {
 public:
  // `renew_own` renews the leases of the coordinator's own tasks; it is called before each rescue.
  WorkerHub(store::Database& database, queue::TaskQueue& queue, ResultRecorder& results, Signals& signals, Clock& clock,
            std::function<absl::Status()> renew_own);
  ~WorkerHub();

  // Before Start; outlives this.
  void Observe(EngineObserver& observer) { observer_ = &observer; }
  void Start();
  void Stop();
  // What the hub's thread does each time it wakes. Only for those who have not called Start and step it themselves;
  // results are recorded in it then.
  void Turn();

  uint64_t Open(std::shared_ptr<WorkerConnection> connection);
  void Receive(uint64_t session, v1::WorkerMessage message);
  void Closed(uint64_t session);
  void Wake();
  void Cancel(const std::vector<queue::CancelledTask>& tasks);
  // After it was stored: the worker gets no new tasks, or gets them again.
  void WantDraining(const std::string& worker_id, bool wanted);

 private:
  struct Held {
    int64_t epoch = 0;
    TimePoint since{};                 // assigned, or found in the database
    std::optional<TimePoint> missing;  // since when the worker has not listed it
    TimePoint renewed{};               // when its lease was last set, as far as is known
  };
  struct Session {
    std::shared_ptr<WorkerConnection> connection;
    bool greeted = false;     // Hello has come
    bool registered = false;  // and is stored
    v1::Hello hello;
    std::vector<queue::TaskKey> listed;  // what the worker says it runs
    bool sync_pending = false;
    bool draining = false;  // the worker says so
    v1::DeviceCondition condition;
    bool draining_wanted = false;  // an operator wants it
    std::map<int64_t, Held> held;  // what we think it has
    std::string last_problem;      // of the task that it was given last: its inputs and answers lie ready there
  };
  struct Incoming {
    uint64_t session = 0;
    bool closed = false;
    v1::WorkerMessage message;
  };
  // Results on their way into the database, and who sent each.
  struct Recording {
    std::vector<WorkerResult> results;
    std::vector<uint64_t> from;
    absl::StatusOr<std::vector<RecordedResult>> recorded = std::vector<RecordedResult>();
  };

  static constexpr Duration kDatabaseRetry = std::chrono::milliseconds(250);

  void Loop();
  Duration Beat() const;
  void TakeIn();
  void TakeHello(uint64_t id, const v1::Hello& hello);
  void Register();
  void RecordLoop();
  void RecordResults();
  void TakeRecorded();
  Recording NextRecording();
  void Acknowledge(Recording recording);
  void TakeSyncs();
  bool NeedsRenewal(const Session& session, const queue::TaskKey& key) const;
  void Compare(Session& session, const std::vector<queue::TaskKey>& kept);
  void Rescue();
  void NoteSeen(int parts);
  void TellFleet();
  void Dispatch();
  std::vector<queue::Claimant> Claimants(std::map<std::string, uint64_t>* sessions);
  void Say(uint64_t session, v1::CoordinatorMessage message) { outgoing_[session].push_back(std::move(message)); }
  void SendSaid();
  void SendCancel(Session& session, const queue::TaskKey& key);
  queue::Owner OwnerOf(const Session& session) const;

  store::Database& database_;
  queue::TaskQueue& queue_;
  ResultRecorder& results_;
  Signals& signals_;
  Clock& clock_;
  const std::function<absl::Status()> renew_own_;
  EngineObserver* observer_ = &EngineObserver::None();

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;                                         // guarded by mutex_
  bool woken_ = false;                                            // guarded by mutex_
  uint64_t next_session_ = 1;                                     // guarded by mutex_
  std::deque<Incoming> inbox_;                                    // guarded by mutex_
  std::map<uint64_t, std::shared_ptr<WorkerConnection>> opened_;  // guarded by mutex_
  std::vector<uint64_t> fresh_;                                   // guarded by mutex_: of opened_, not looked at yet
  std::vector<queue::CancelledTask> to_cancel_;                   // guarded by mutex_
  std::map<std::string, bool> to_drain_;                          // guarded by mutex_
  std::condition_variable record_;
  std::optional<Recording> to_record_;  // guarded by mutex_: for the recorder's thread
  std::optional<Recording> recorded_;   // guarded by mutex_: back from it

  // Only the hub's thread uses what follows.
  std::map<uint64_t, Session> sessions_;
  std::deque<std::pair<uint64_t, WorkerResult>> unrecorded_;
  bool recording_ = false;                                            // some are with the recorder
  std::multiset<queue::TaskKey> sent_;                                // of results that came and are not recorded yet
  std::map<uint64_t, std::vector<v1::CoordinatorMessage>> outgoing_;  // of this turn, sent at its end
  std::vector<std::pair<std::string, std::string>> gone_;             // workers (id, boot) to mark as not connected
  std::optional<TimePoint> rescue_from_;                              // set at the first turn
  TimePoint next_rescue_{};
  TimePoint next_seen_{};
  int seen_part_ = 0;
  TimePoint next_fleet_{};
  TimePoint next_dispatch_{};
  TimePoint busy_until_{};   // tasks were handed out a moment ago
  uint64_t served_to_ = 0;   // the session at which the last dispatch ended: the next one begins after it
  TimePoint quiet_until_{};  // the database is away: do not try before
  AssignmentMaker assignments_;
  std::thread thread_;
  std::thread recorder_;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_WORKER_HUB_H_
