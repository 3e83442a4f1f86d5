// What makes embeddings, without limits: one request for all texts.
// Threading: safe from any thread and fiber; Embed blocks. Units: tokens, seconds.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_EMBEDDING_SERVER_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_EMBEDDING_SERVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "llm_gateway/http/cancellation.h"

namespace warpsmith::gateway {

// A failure is a value too: what it took is charged whether or not it helped.
struct EmbeddingAnswer {
  absl::Status status;
  std::vector<std::vector<float>> vectors;  // where status is ok: one a text, in their order
  int64_t tokens = -1;                      // as the server counted; -1: it did not say
  bool sent = false;                        // the server was asked
  bool may_be_billed = false;               // and has not refused
  double first_byte_seconds = 0;
  double seconds = 0;
};

class EmbeddingServer {
 public:
  virtual ~EmbeddingServer() = default;
  virtual EmbeddingAnswer Embed(const std::vector<std::string>& texts, Cancellation& cancellation) = 0;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_EMBEDDING_SERVER_H_
