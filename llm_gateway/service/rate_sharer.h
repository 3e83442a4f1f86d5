// Tells the coordinator what this replica's models have to do, and keeps to the share of their limits that it is given.
// Where the coordinator cannot be reached, calls go on with the last share; they never wait for it.
// Threading: a thread of its own; the models outlive this. Units: seconds. Errors: logged when the coordinator goes and
// when it is back.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_RATE_SHARER_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_RATE_SHARER_H_

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "llm_gateway/service/model_pool.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::gateway {

struct RateSharerOptions {
  Duration first_interval = std::chrono::seconds(2);  // until a reply says how long it is valid; also while it is away
  Duration deadline = std::chrono::seconds(2);        // of one call
};

class RateSharer {
 public:
  RateSharer(const std::string& coordinator, ModelPool& models, RateSharerOptions options = {});
  ~RateSharer();
  RateSharer(const RateSharer&) = delete;
  RateSharer& operator=(const RateSharer&) = delete;

  // Whether the coordinator has answered the last time.
  bool reachable() const { return reachable_; }

 private:
  void Work();
  // How long until the next one.
  Duration Exchange();

  const RateSharerOptions options_;
  const std::string coordinator_;
  const std::string gateway_id_;
  ModelPool& models_;
  std::unique_ptr<v1::RateSharingService::Stub> stub_;
  bool away_ = false;  // the thread's
  int replicas_ = 0;   // the thread's
  std::atomic<bool> reachable_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;                     // guarded by mutex_
  grpc::ClientContext* under_way_ = nullptr;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_RATE_SHARER_H_
