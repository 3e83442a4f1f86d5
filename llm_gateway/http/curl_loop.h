// A thread of the libcurl transport: multi handles on one epoll instance. What a wake-up costs depends on what has
// happened, not on how many exchanges are in flight: libcurl is told of the sockets that are ready, and deadlines stand
// in a heap that is looked at again only when one may be due. Between exchanges it does the work that others post, so
// that what an answer sets off needs no other thread.
// Threading: Add, Cancel and Post are safe from any thread; sinks are called from the loop's thread. StopAndJoin ends
// every exchange with kCancelled; what is posted later is not done. Source of the method: libcurl's multi_socket
// interface.
#ifndef WARPSMITH_LLM_GATEWAY_HTTP_CURL_LOOP_H_
#define WARPSMITH_LLM_GATEWAY_HTTP_CURL_LOOP_H_

#include <curl/curl.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "llm_gateway/async/event_loop.h"
#include "llm_gateway/http/curl_transfer.h"

namespace warpsmith::gateway {

// Shared with the calls, so that cancelling one after the transport has gone is harmless.
class CurlLoop final : public EventLoop {
 public:
  CurlLoop();
  ~CurlLoop() override;
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  void Run();
  void StopAndJoin();
  uint64_t Add(HttpRequest request, std::shared_ptr<HttpSink> sink);
  void Cancel(uint64_t id);

  bool OnThisThread() const override { return std::this_thread::get_id() == id_.load(std::memory_order_relaxed); }
  void Post(std::function<void()> work) override;
  TimerId StartTimer(TimePoint at, std::function<void()> work) override;
  void StopTimer(TimerId timer) override;

 private:
  struct Pending {
    uint64_t id;
    HttpRequest request;
    std::shared_ptr<HttpSink> sink;
  };
  // A multi handle of its own: libcurl looks for a free connection among all that one handle has to a server, one by
  // one, so that a thousand calls share several.
  struct Lane {
    CurlLoop* loop = nullptr;
    uint32_t index = 0;
    CURLM* multi = nullptr;
    int active = 0;
    std::optional<TimePoint> due;  // when libcurl wants to be called
  };
  struct Running {
    std::unique_ptr<CurlTransfer> transfer;
    Lane* lane = nullptr;
  };
  using Transfers = std::unordered_map<uint64_t, Running>;
  using Check = std::pair<TimePoint, uint64_t>;  // when to look at which exchange
  struct Commands {
    std::vector<std::function<void()>> posted;
    std::vector<Pending> starts;
    std::vector<uint64_t> cancels;
    bool empty() const { return posted.empty() && starts.empty() && cancels.empty(); }
  };

  static int OnSocket(CURL* easy, curl_socket_t socket, int what, void* lane, void* known);
  static int OnTimer(CURLM* multi, long milliseconds, void* lane);
  template <typename Give>
  void Command(Give give);
  void Wake();
  void Work();
  bool TakeCommands();
  void Begin(Commands& commands);
  void StartTransfer(Pending pending);
  Lane& AddLane();
  Lane& LaneWithRoom();
  void WaitAndAct();
  void CollectFinished();
  void CollectFinished(Lane& lane);
  void EndOverdue();
  void RunTimers();
  int WaitMilliseconds() const;
  void End(Transfers::iterator place, HttpError error);

  int epoll_ = -1;
  int wake_up_ = -1;  // an eventfd
  std::thread thread_;
  std::atomic<std::thread::id> id_{};
  std::atomic<uint64_t> next_id_{1};

  std::mutex mutex_;
  bool stopping_ = false;  // guarded by mutex_
  bool woken_ = false;     // guarded by mutex_; the eventfd was written since the loop last looked
  Commands from_others_;   // guarded by mutex_

  // The loop's thread only. An exchange has one entry in checks_, which may be earlier than its next deadline.
  Commands own_;  // given on this thread
  Transfers transfers_;
  std::priority_queue<Check, std::vector<Check>, std::greater<>> checks_;
  std::map<std::pair<TimePoint, TimerId>, std::function<void()>> timers_;
  std::unordered_map<TimerId, TimePoint> timer_places_;
  TimerId last_timer_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<SpareHandle> spare_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_HTTP_CURL_LOOP_H_
