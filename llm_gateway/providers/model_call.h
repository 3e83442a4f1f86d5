// The record of a call, as far as its completion tells: tokens, money, times, how it ended. Who was asked and with
// which prompt is the caller's to add. Threading: pure. Units: as the messages say.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_MODEL_CALL_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_MODEL_CALL_H_

#include "llm_gateway/providers/model_provider.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

v1::ModelCall ToModelCall(const Completion& completion);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_MODEL_CALL_H_
