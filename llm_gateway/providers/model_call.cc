#include "llm_gateway/providers/model_call.h"

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {

v1::ModelCall ToModelCall(const Completion& completion) {
  v1::ModelCall call;
  call.set_input_tokens(completion.usage.input);
  call.set_cached_input_tokens(completion.usage.cached_input);
  call.set_cache_write_5m_tokens(completion.usage.cache_write_5m);
  call.set_cache_write_1h_tokens(completion.usage.cache_write_1h);
  call.set_output_tokens(completion.usage.output);
  call.set_reasoning_tokens(completion.usage.reasoning);
  call.set_usd(completion.usd);
  call.set_price_id(completion.price_id);
  call.set_estimated(completion.estimated);
  call.set_effort(completion.effort);
  call.set_first_byte_seconds(completion.first_byte_seconds);
  call.set_seconds(completion.seconds);
  call.set_finish_reason(completion.finish_reason);
  if (!completion.ok()) call.set_error_class(std::string(Name(completion.error)));
  call.set_error(Bounded(ValidText(completion.message), 4000));
  call.set_tries(completion.tries);
  return call;
}

}  // namespace warpsmith::gateway
