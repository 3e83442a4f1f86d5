// Notices that a client has gone (hung up, cancelled, or out of its deadline) while its call is being worked on, and
// that the server is to stop; cancels the call's work either way. Threading: safe from any thread; one thread of its
// own. Clients are looked at every 25 ms while there are any.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_CLIENT_WATCH_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_CLIENT_WATCH_H_

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "llm_gateway/http/cancellation.h"

namespace warpsmith::gateway {

class ClientWatch {
 public:
  ClientWatch();
  ~ClientWatch();
  ClientWatch(const ClientWatch&) = delete;
  ClientWatch& operator=(const ClientWatch&) = delete;

  // While it lives, `gone` is asked; both it and `cancellation` outlive it.
  class Guard {
   public:
    Guard(ClientWatch& watch, std::function<bool()> gone, Cancellation& cancellation);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    ClientWatch& watch_;
    std::list<std::pair<std::function<bool()>, Cancellation*>>::iterator place_;
  };

  // Cancels every call, those that are still to come included.
  void CancelAll();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::pair<std::function<bool()>, Cancellation*>> clients_;  // guarded by mutex_
  bool cancel_all_ = false;                                             // guarded by mutex_
  bool stopping_ = false;                                               // guarded by mutex_
  std::thread thread_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_CLIENT_WATCH_H_
