// Embeddings of a server that speaks OpenAI's format: POST /embeddings beside the chat completions of the same server,
// with its key. One request for all texts, not tried again: whoever asks goes on without where it fails.
// Threading: safe from any thread and fiber; Embed blocks. Errors: Unavailable for what the network and the server say,
// Internal for an answer that makes no sense; neither holds the key. Units: seconds.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_HTTP_EMBEDDINGS_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_HTTP_EMBEDDINGS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/providers/embedding_server.h"
#include "llm_gateway/providers/wire_format.h"

namespace warpsmith::gateway {

class HttpEmbeddings final : public EmbeddingServer {
 public:
  using KeySource = std::function<absl::StatusOr<Secret>()>;

  // `config` has an embedding_model; `transport` outlives this.
  HttpEmbeddings(ModelConfig config, KeySource key, HttpTransport& transport);

  EmbeddingAnswer Embed(const std::vector<std::string>& texts, Cancellation& cancellation) override;

 private:
  const ModelConfig config_;
  const std::unique_ptr<WireFormat> format_;  // for its key's header
  const KeySource key_;
  HttpTransport& transport_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_HTTP_EMBEDDINGS_H_
