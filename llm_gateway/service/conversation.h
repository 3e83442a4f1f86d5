// Many calls over one stream. Replies that come in one turn of the pool's loop, or while a message is being written, go
// together in the next one, so that a busy stream costs less a call than a quiet one.
// Threading: safe from any thread; reactions never block, calls are worked on by the pool. Units: bytes. Errors: a
// call's own, as its last reply; a message that makes no sense ends its call with InvalidArgument, never the stream.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_CONVERSATION_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_CONVERSATION_H_

#include <grpcpp/support/server_callback.h>

#include <mutex>
#include <set>

#include "llm_gateway/async/task_runner.h"
#include "llm_gateway/service/active_calls.h"
#include "llm_gateway/service/gateway.h"

namespace warpsmith::gateway {

class Conversation;

// Those that are open, so that a server which stops can end them.
class Conversations {
 public:
  using Reactor = grpc::ServerBidiReactor<v1::Calls, v1::CallReplies>;

  // All outlive this, and this outlives the server whose streams it serves.
  Conversations(Gateway& gateway, ActiveCalls& active, TaskRunner& pool)
      : gateway_(gateway), active_(active), pool_(pool) {}
  Reactor* Start();
  // Each ends as soon as its calls have.
  void Close();

 private:
  friend class Conversation;
  void Remove(Conversation* conversation);

  Gateway& gateway_;
  ActiveCalls& active_;
  TaskRunner& pool_;
  std::mutex mutex_;
  std::set<Conversation*> open_;  // guarded by mutex_
  bool closed_ = false;           // guarded by mutex_
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_CONVERSATION_H_
