// The thread behind the libcurl transport: one multi handle on one epoll instance. What a wake-up costs depends on
// what has happened, not on how many exchanges are in flight: libcurl is told of the sockets that are ready, and
// deadlines stand in a heap that is looked at again only when one may be due.
// Threading: Add and Cancel are safe from any thread; sinks are called from the loop's thread. StopAndJoin ends every
// exchange with kCancelled. Source of the method: libcurl's multi_socket interface.
#ifndef WARPSMITH_LLM_GATEWAY_HTTP_CURL_LOOP_H_
#define WARPSMITH_LLM_GATEWAY_HTTP_CURL_LOOP_H_

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "llm_gateway/http/curl_transfer.h"

namespace warpsmith::gateway {

// Shared with the calls, so that cancelling one after the transport has gone is harmless.
class CurlLoop {
 public:
  CurlLoop();
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  void Run();
  void StopAndJoin();
  uint64_t Add(HttpRequest request, std::shared_ptr<HttpSink> sink);
  void Cancel(uint64_t id);

 private:
  struct Pending {
    uint64_t id;
    HttpRequest request;
    std::shared_ptr<HttpSink> sink;
  };
  using Transfers = std::unordered_map<uint64_t, std::unique_ptr<CurlTransfer>>;
  using Check = std::pair<TimePoint, uint64_t>;  // when to look at which exchange

  static int OnSocket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int OnTimer(CURLM* multi, long milliseconds, void* self);
  void Wake();
  void Work();
  bool TakeCommands();
  void StartTransfer(Pending pending);
  void WaitAndAct();
  void CollectFinished();
  void EndOverdue();
  int WaitMilliseconds() const;
  void End(Transfers::iterator place, HttpError error);

  CURLM* multi_ = nullptr;
  int epoll_ = -1;
  int wake_up_ = -1;  // an eventfd
  std::thread thread_;

  std::mutex mutex_;
  bool stopping_ = false;          // guarded by mutex_
  bool woken_ = false;             // guarded by mutex_; the eventfd is set already
  uint64_t next_id_ = 1;           // guarded by mutex_
  std::vector<Pending> starts_;    // guarded by mutex_
  std::vector<uint64_t> cancels_;  // guarded by mutex_

  // The loop's thread only. An exchange has one entry in checks_, which may be earlier than its next deadline.
  Transfers transfers_;
  std::priority_queue<Check, std::vector<Check>, std::greater<>> checks_;
  std::optional<TimePoint> curl_due_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_HTTP_CURL_LOOP_H_
