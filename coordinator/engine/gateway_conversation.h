// Calls to a gateway over one stream, many at once: GatewayService.Converse. The stream is opened with the first call
// and again after it broke; calls that come while a message is being sent go together in the next one.
// Threading: safe from any thread. Replies come from gRPC's threads, those of a call one after the other, with no lock
// held; they must not block, and what they touch lives until a reply has ended. The destructor ends what is under way
// and returns when no reply can come any more.
// Errors: in a call's last reply; a stream that breaks ends its calls with its status. A call that is larger than a
// message may be is told so before Start returns, and never reaches the stream.
#ifndef WARPSMITH_COORDINATOR_ENGINE_GATEWAY_CONVERSATION_H_
#define WARPSMITH_COORDINATOR_ENGINE_GATEWAY_CONVERSATION_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "common/clock.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::engine {

class GatewayConversation {
 public:
  using OnReply = std::function<void(v1::CallReply&)>;

  // `stub` outlives this. `forget`: how long a gateway is taken for one that knows no such stream; it may have been
  // replaced meanwhile.
  explicit GatewayConversation(v1::GatewayService::Stub& stub, Duration forget = std::chrono::minutes(1))
      : stub_(stub), forget_(forget) {}
  ~GatewayConversation();
  GatewayConversation(const GatewayConversation&) = delete;
  GatewayConversation& operator=(const GatewayConversation&) = delete;

  // Gives the call its id, which it returns. `on_reply` is called until a reply has `ended`.
  uint64_t Start(v1::Call call, OnReply on_reply);
  // Has the gateway end the call; how it ended is told as always.
  void Cancel(uint64_t id);
  // False where a gateway said of late that it knows no such stream.
  bool supported() const;

 private:
  class Stream;
  std::shared_ptr<Stream> Current(const std::shared_ptr<Stream>& broken);
  void Unsupported();
  void Ended();

  v1::GatewayService::Stub& stub_;
  const Duration forget_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::shared_ptr<Stream> stream_;  // guarded by mutex_; the latest
  int streams_ = 0;                 // guarded by mutex_; that have not ended
  TimePoint supported_from_{};      // guarded by mutex_; not before
  std::atomic<uint64_t> last_id_{0};
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_GATEWAY_CONVERSATION_H_
