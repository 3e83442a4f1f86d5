#include "llm_gateway/service/call_log.h"

#include "common/log.h"

namespace warpsmith::gateway {

void LogCall(const char* kind, const v1::ModelCall& call, const std::string& status) {
  spdlog::info("{} by {}: {} ({:.2f} s, {} tries, {} + {} tokens, {:.4f} $)", kind, call.model(), status,
               call.seconds(), call.tries(), call.input_tokens(), call.output_tokens() + call.reasoning_tokens(),
               call.usd());
}

void LogCalls(const v1::ProposeIdeasReply& reply) {
  for (const v1::ModelCall& call : reply.calls()) LogCall("ideas", call, call.finish_reason());
}

}  // namespace warpsmith::gateway
