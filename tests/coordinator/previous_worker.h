// A worker of the version before this one: it sends only the fields of previous_protocol.proto, and what it does not
// know in a message it ignores. It reconnects, lists what it holds and resends results until they are acknowledged.
// Threading: threads of its own; the knobs may be turned at any time.
#ifndef WARPSMITH_TESTS_COORDINATOR_PREVIOUS_WORKER_H_
#define WARPSMITH_TESTS_COORDINATOR_PREVIOUS_WORKER_H_

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "tests/coordinator/previous_protocol.pb.h"

namespace grpc {
class ClientContext;
}

namespace warpsmith::testing {

class PreviousWorker {
 public:
  PreviousWorker(std::string address, std::string worker_id);
  ~PreviousWorker();

  std::atomic<bool> hold{false};     // takes tasks, lists them, but does not finish them
  std::atomic<int> connections{0};   // answered with Welcome
  std::atomic<int> acknowledged{0};  // recorded results
  std::atomic<int> stale{0};         // refused results

 private:
  void Loop();
  void Serve();
  void Handle(const previous::CoordinatorMessage& message);
  previous::TaskResult Compute(const previous::Assignment& assignment);
  std::string Fetch(const std::string& sha256);

  const std::string address_;
  const std::string worker_id_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;                            // guarded by mutex_, as all below
  bool open_ = false;                                // the stream
  grpc::ClientContext* context_ = nullptr;           // of the stream
  std::map<int64_t, previous::Assignment> running_;  // until acknowledged
  std::map<int64_t, previous::TaskResult> finished_;
  std::map<int64_t, bool> sent_;  // on this stream
  std::thread thread_;
};

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_COORDINATOR_PREVIOUS_WORKER_H_
