// gateway.yaml: which models there are and how each is reached. Checked whole before anything starts.
// Threading: pure functions over plain values. Units: seconds, bytes, tokens.
// Errors: InvalidArgument with file:line, the field and the remedy. Keys stand in files or environment variables that
// the configuration names; a key that is missing makes its model unusable (KeyOf says why), not the file wrong.
#ifndef WARPSMITH_LLM_GATEWAY_CONFIG_GATEWAY_CONFIG_H_
#define WARPSMITH_LLM_GATEWAY_CONFIG_GATEWAY_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

#include "common/json.h"
#include "common/status.h"
#include "llm_gateway/config/secret.h"

namespace warpsmith::gateway {

// US dollars a million tokens.
struct Price {
  double input = 0;
  double cached_input = 0;
  double cache_write_5m = 0;
  double cache_write_1h = 0;
  double output = 0;
  double reasoning = 0;
  // A prompt of more tokens than this costs these multiples of the prices above, all of it and what is said to it.
  int64_t long_prompt_tokens = 0;  // 0: no such
  double long_prompt_input = 1;
  double long_prompt_output = 1;
};

struct ModelConfig {
  std::string name;
  std::string provider;  // openai, anthropic, gemini, openai_compatible, command, recorded, catalog
  std::string place;     // "gateway.yaml:7: models[1]", for messages
  bool enabled = true;

  // Limits. 0: none.
  int concurrency = 32;  // calls in flight
  double requests_per_minute = 0;
  double tokens_per_minute = 0;  // in and out

  // Names of models to ask instead, in this order.
  std::vector<std::string> fallback_unavailable;  // unreachable, overloaded, circuit open, rate limited, quota
  std::vector<std::string> fallback_context;      // the prompt does not fit
  std::vector<std::string> fallback_refused;

  std::optional<Price> price;  // here, or by price_name in the price file
  std::string price_name;      // default: `model`

  // Over HTTP: openai, anthropic, gemini, openai_compatible
  std::string base_url;  // without a trailing slash; each provider appends its own path
  std::string model;
  std::string api_key_env;
  std::string api_key_file;
  int64_t max_output_tokens = 0;   // reasoning included; 0: the server's default (anthropic: 32,000)
  int64_t most_output_tokens = 0;  // a truncated reply is asked again with up to this; 0: 2 * max_output_tokens
  std::string max_tokens_field = "max_completion_tokens";  // openai_compatible
  std::string key_header = "authorization";                // openai_compatible: or api-key, as Azure wants it
  std::string embedding_model;                             // openai, openai_compatible: for POST /embeddings
  std::optional<double> embedding_price;                   // dollars a million tokens; unset: the price file's
  std::optional<double> temperature;
  std::string reasoning_effort;            // gemini: also minimal, low, medium, high as thinkingLevel
  std::vector<std::string> efforts;        // what a caller may ask for beside reasoning_effort, from least to most
  std::optional<int64_t> thinking_budget;  // tokens; anthropic (0: off), gemini (0: off, -1: automatic)
  bool background = false;                 // openai: start in the background and poll
  bool structured_output = true;           // send schemas where a request has one
  Json extra_body = Json::object();        // merged into every request
  double connect_seconds = 10;
  double first_byte_seconds = 600;  // reasoning models are silent for minutes
  double idle_seconds = 300;
  int tries = 4;
  int64_t max_response_bytes = 32 << 20;
  std::string ca_file;
  bool proxy_from_environment = false;

  // command
  std::vector<std::string> command;
  std::vector<std::string> pass_environment;  // beyond PATH, HOME, USER, LANG, TMPDIR
  int64_t max_output_bytes = 4 << 20;

  // recorded
  std::string recording;  // the file
  std::string upstream;   // name of the model whose calls are recorded; empty: replay only

  double total_seconds = 1200;  // over all tries

  // openai, anthropic, gemini, openai_compatible
  bool IsHttp() const;
};

struct GatewayConfig {
  std::vector<ModelConfig> models;
  std::string prices_file;                   // empty: the one that comes with warpsmith
  std::vector<std::string> prompt_variants;  // of the prompts folder; empty: "default" alone
  double max_usd_per_day = 0;                // this gateway's own ceiling; 0: none
  std::string novelty_by;                    // the model whose embeddings tell ideas apart; empty: by their words
  double novelty_threshold = 0.92;           // from here on two ideas are too close, by embeddings
  std::string place;                         // "gateway.yaml: ", for messages on the fields above; empty: no file
};

// With no file at all: the catalog alone.
GatewayConfig DefaultConfig();

// `file` stands in messages. At most 1 MiB and 100 models.
absl::StatusOr<GatewayConfig> ParseConfig(const std::string& text, const std::string& file);
// Files that it names by relative paths (keys, CA, recordings, prices) lie beside it.
absl::StatusOr<GatewayConfig> LoadConfig(const std::string& path);

// Where a provider of its own server is found and which variable holds its key by custom; empty for the others.
std::string DefaultBaseUrl(const std::string& provider);
std::string DefaultKeyVariable(const std::string& provider);

// Where the key is looked for: "environment variable OPENAI_API_KEY (gateway.yaml:7: models[1].api_key_env)"; empty for
// none.
std::string KeySource(const ModelConfig& model);
// Empty where the model needs none.
absl::StatusOr<Secret> KeyOf(const ModelConfig& model);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CONFIG_GATEWAY_CONFIG_H_
