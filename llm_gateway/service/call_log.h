// What a call took, as a line of the log: nothing in it that a model or a user wrote.
// Threading: safe from any thread.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_CALL_LOG_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_CALL_LOG_H_

#include <string>

#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

void LogCall(const char* kind, const v1::ModelCall& call, const std::string& status);
// Each of its calls.
void LogCalls(const v1::ProposeIdeasReply& reply);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_CALL_LOG_H_
