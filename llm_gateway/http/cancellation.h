// Telling running work that nobody wants its result any more: one Cancellation a call, cancelled at most once.
// Threading: all functions are safe from any thread. A callback runs on the thread that cancels (or subscribes, when it
// is already cancelled), must not block and must not touch the same Cancellation. After a Subscription is destroyed its
// callback neither runs nor will run.
#ifndef WARPSMITH_LLM_GATEWAY_HTTP_CANCELLATION_H_
#define WARPSMITH_LLM_GATEWAY_HTTP_CANCELLATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace warpsmith::gateway {

class Cancellation {
 public:
  class Subscription {
   public:
    Subscription(Cancellation* owner, uint64_t id) : owner_(owner), id_(id) {}
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

   private:
    Cancellation* owner_;
    uint64_t id_;
  };

  void Cancel();
  bool cancelled() const;
  // The subscription must not outlive this object.
  [[nodiscard]] std::unique_ptr<Subscription> Subscribe(std::function<void()> callback);

 private:
  mutable std::mutex mutex_;
  bool cancelled_ = false;
  uint64_t next_id_ = 0;
  std::map<uint64_t, std::function<void()>> callbacks_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_HTTP_CANCELLATION_H_
