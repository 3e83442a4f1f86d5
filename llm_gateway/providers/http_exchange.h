// One HTTP exchange whose answer a ReplyReader takes, with the deadlines that a language model needs: a model may be
// silent for long before it writes (first_byte), hardly ever once it writes (idle); signs of life before the first word
// do not count as words. A connection that lingers after the answer's announced end is closed.
// Threading: blocks; safe from any number of threads. Units: Durations.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_HTTP_EXCHANGE_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_HTTP_EXCHANGE_H_

#include <string>

#include "llm_gateway/http/cancellation.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/providers/wire_format.h"

namespace warpsmith::gateway {

struct ExchangeResult {
  HttpResult http;         // error kNone too where the connection broke after the answer's end
  std::string error_body;  // of an answer with no 2xx status, bounded
  bool Succeeded() const { return http.status >= 200 && http.status < 300; }
};

// request.deadlines.idle counts from the first word; before it first_byte is the longest silence.
ExchangeResult RunExchange(HttpTransport& transport, HttpRequest request, ReplyReader& reader,
                           Cancellation& cancellation);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_HTTP_EXCHANGE_H_
