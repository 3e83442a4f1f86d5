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

struct ModelConfig {
  std::string name;
  std::string provider;  // catalog, openai_compatible, command
  std::string place;     // "gateway.yaml:7: models[1]", for messages
  bool enabled = true;
  int concurrency = 32;  // calls in flight

  // openai_compatible
  std::string base_url;  // without a trailing slash; "/chat/completions" is appended
  std::string model;
  std::string api_key_env;
  std::string api_key_file;
  int64_t max_output_tokens = 0;  // 0: the server's default
  std::string max_tokens_field = "max_completion_tokens";
  std::optional<double> temperature;
  std::string reasoning_effort;
  Json extra_body = Json::object();  // merged into every request
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

  double total_seconds = 1200;  // over all tries
};

struct GatewayConfig {
  std::vector<ModelConfig> models;
};

// With no file at all: the catalog alone.
GatewayConfig DefaultConfig();

// `file` stands in messages. At most 1 MiB and 100 models.
absl::StatusOr<GatewayConfig> ParseConfig(const std::string& text, const std::string& file);
absl::StatusOr<GatewayConfig> LoadConfig(const std::string& path);

// Where the key is looked for: "environment variable OPENAI_API_KEY (gateway.yaml:7: models[1].api_key_env)"; empty for
// none.
std::string KeySource(const ModelConfig& model);
// Empty where the model needs none.
absl::StatusOr<Secret> KeyOf(const ModelConfig& model);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CONFIG_GATEWAY_CONFIG_H_
