// The calls that are being worked on, so that a server which stops can wait for them, or end them.
// Threading: safe from any thread. A Cancellation that was added outlives its removal.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_ACTIVE_CALLS_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_ACTIVE_CALLS_H_

#include <condition_variable>
#include <mutex>
#include <set>

#include "common/clock.h"
#include "llm_gateway/http/cancellation.h"

namespace warpsmith::gateway {

class ActiveCalls {
 public:
  // False once no more calls are taken.
  bool Add(Cancellation& cancellation);
  void Remove(Cancellation& cancellation);

  // Takes no more calls; true where those that run have ended within `grace`.
  bool Drain(Duration grace);
  // Takes no more calls and cancels those that run.
  void CancelAll();
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Cancellation*> calls_;  // guarded by mutex_
  bool closed_ = false;            // guarded by mutex_
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_ACTIVE_CALLS_H_
