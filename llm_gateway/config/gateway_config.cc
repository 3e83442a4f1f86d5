#include "llm_gateway/config/gateway_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "common/file.h"
#include "llm_gateway/config/yaml_reader.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxModels = 100;

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= 100 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == ':' || c == '/';
  });
}

bool IsVariable(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// A plain YAML scalar means what it looks like; a quoted one is text.
Json ToJson(const YAML::Node& node) {
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const auto& item : node) list.push_back(ToJson(item));
    return list;
  }
  if (node.IsMap()) {
    Json object = Json::object();
    for (const auto& entry : node) object[entry.first.Scalar()] = ToJson(entry.second);
    return object;
  }
  if (!node.IsScalar()) return nullptr;
  const std::string& text = node.Scalar();
  if (node.Tag() != "!") {
    Json value = Json::parse(text, nullptr, false);
    if (value.is_number() || value.is_boolean() || value.is_null()) return value;
  }
  return text;
}

// Plain http carries the key in clear: on this machine's loopback only.
bool IsLoopbackUrl(const std::string& url) {
  for (const char* start : {"http://127.", "http://localhost:", "http://localhost/", "http://[::1]"}) {
    if (url.rfind(start, 0) == 0) return true;
  }
  return url == "http://localhost";
}

void ReadUrl(YamlReader& reader, ModelConfig& model) {
  model.base_url = reader.String("base_url", "", true);
  while (!model.base_url.empty() && model.base_url.back() == '/') model.base_url.pop_back();
  if (model.base_url.empty()) return;
  bool plain = model.base_url.rfind("http://", 0) == 0;
  if (!plain && model.base_url.rfind("https://", 0) != 0) {
    reader.Fail("base_url", "must begin with https:// or http://, as in https://api.openai.com/v1");
  } else if (model.base_url.find('@') != std::string::npos ||
             model.base_url.find_first_of(" \t\r\n?#") != std::string::npos) {
    reader.Fail("base_url",
                "must hold no user, query, fragment or space; a key belongs into api_key_file or api_key_env");
  } else if (plain && !IsLoopbackUrl(model.base_url) && !(model.api_key_env.empty() && model.api_key_file.empty())) {
    reader.Fail("base_url", "would send the key unencrypted; use https:// (http:// with a key is for 127.0.0.1 only)");
  }
}

void ReadOpenAiCompatible(YamlReader& reader, ModelConfig& model) {
  model.api_key_env = reader.String("api_key_env");
  model.api_key_file = reader.String("api_key_file");
  if (reader.Has("api_key")) {
    reader.Fail("api_key", "keys do not stand in this file; name a file in api_key_file or a variable in api_key_env");
  }
  if (!model.api_key_env.empty() && !IsVariable(model.api_key_env)) {
    reader.Fail("api_key_env", "must be the name of an environment variable, not the key itself");
  }
  if (!model.api_key_env.empty() && !model.api_key_file.empty()) {
    reader.Fail("api_key_file", "stands beside api_key_env; keep one of them");
  }
  ReadUrl(reader, model);
  model.model = reader.String("model", "", true);
  model.max_output_tokens = reader.Integer("max_output_tokens", 0, 0, 10'000'000);
  model.max_tokens_field = reader.String("max_tokens_field", model.max_tokens_field);
  if (model.max_tokens_field != "max_tokens" && model.max_tokens_field != "max_completion_tokens") {
    reader.Fail("max_tokens_field", "must be max_completion_tokens or, for older servers, max_tokens");
  }
  model.temperature = reader.OptionalNumber("temperature", 0, 2);
  model.reasoning_effort = reader.String("reasoning_effort");
  model.connect_seconds = reader.Number("connect_seconds", model.connect_seconds, 0.01, 600);
  model.first_byte_seconds = reader.Number("first_byte_seconds", model.first_byte_seconds, 0.01, 86400);
  model.idle_seconds = reader.Number("idle_seconds", model.idle_seconds, 0.01, 86400);
  model.tries = static_cast<int>(reader.Integer("tries", model.tries, 1, 20));
  model.max_response_bytes = reader.Integer("max_response_bytes", model.max_response_bytes, 1024, 1 << 30);
  model.ca_file = reader.String("ca_file");
  model.proxy_from_environment = reader.Boolean("proxy_from_environment", false);
  for (const auto& [key, value] : reader.Map("extra_body")) {
    static const std::set<std::string> ours = {"messages", "model", "stream", "stream_options"};
    if (ours.count(key) != 0) reader.Fail(value, "extra_body." + key, "is set by the gateway; remove it");
    model.extra_body[key] = ToJson(value);
  }
}

void ReadCommand(YamlReader& reader, ModelConfig& model) {
  model.command = reader.Strings("command");
  if (model.command.empty() || model.command[0].empty()) {
    reader.Fail("command", "is missing; give the program and its arguments as a list: [/usr/bin/program, --flag]");
  }
  model.pass_environment = reader.Strings("pass_environment");
  for (const std::string& variable : model.pass_environment) {
    if (!IsVariable(variable)) reader.Fail("pass_environment", fmt::format("\"{}\" is no variable's name", variable));
  }
  model.max_output_bytes = reader.Integer("max_output_bytes", model.max_output_bytes, 1024, 64 << 20);
}

absl::StatusOr<ModelConfig> ReadModel(const YAML::Node& node, size_t index, const std::string& file) {
  YamlReader reader(file, node, fmt::format("models[{}]", index));
  ModelConfig model;
  model.place = reader.Place(node, "");
  model.name = reader.String("name", "", true);
  if (!model.name.empty() && !IsName(model.name)) {
    reader.Fail("name", "must be at most 100 letters, digits, and any of - _ . : /");
  }
  model.provider = reader.String("provider", "", true);
  model.enabled = reader.Boolean("enabled", true);
  if (model.provider == "openai_compatible") {
    ReadOpenAiCompatible(reader, model);
  } else if (model.provider == "command") {
    ReadCommand(reader, model);
  } else if (model.provider != "catalog" && !model.provider.empty()) {
    reader.Fail("provider",
                fmt::format("\"{}\" is unknown; use openai_compatible, command or catalog", model.provider));
  }
  if (model.provider != "catalog") {
    model.total_seconds = reader.Number("total_seconds", model.total_seconds, 0.01, 86400);
    model.concurrency = static_cast<int>(reader.Integer("concurrency", model.concurrency, 1, 1024));
  }
  WARPSMITH_RETURN_IF_ERROR(reader.Finish());
  return model;
}

}  // namespace

GatewayConfig DefaultConfig() {
  GatewayConfig config;
  config.models.emplace_back();
  config.models.back().name = "catalog";
  config.models.back().provider = "catalog";
  return config;
}

absl::StatusOr<GatewayConfig> ParseConfig(const std::string& text, const std::string& file) {
  WARPSMITH_ASSIGN_OR_RETURN(YAML::Node document, ParseYaml(text, file));
  YamlReader reader(file, document, "");
  GatewayConfig config;
  std::vector<YAML::Node> models = reader.List("models");
  WARPSMITH_RETURN_IF_ERROR(reader.Finish());
  if (models.empty()) {
    return InvalidArgument(
        fmt::format("{}:1: models: is missing or empty; list at least one model, "
                    "for instance \"models: [{{name: catalog, provider: catalog}}]\"",
                    file));
  }
  if (models.size() > kMaxModels)
    return InvalidArgument(fmt::format("{}: models: more than {} of them", file, kMaxModels));
  std::set<std::string> names;
  for (size_t i = 0; i < models.size(); ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(ModelConfig model, ReadModel(models[i], i, file));
    if (!names.insert(model.name).second) {
      return InvalidArgument(
          fmt::format("{}.name: \"{}\" is taken by an earlier model; names must differ", model.place, model.name));
    }
    config.models.push_back(std::move(model));
  }
  return config;
}

absl::StatusOr<GatewayConfig> LoadConfig(const std::string& path) {
  auto text = ReadFile(path, 1u << 20);
  if (!text.ok()) return Annotate(text.status(), "--config");
  return ParseConfig(*text, path);
}

std::string KeySource(const ModelConfig& model) {
  if (!model.api_key_env.empty()) {
    return fmt::format("environment variable {} ({}.api_key_env)", model.api_key_env, model.place);
  }
  if (!model.api_key_file.empty()) return fmt::format("file {} ({}.api_key_file)", model.api_key_file, model.place);
  return "";
}

absl::StatusOr<Secret> KeyOf(const ModelConfig& model) {
  absl::StatusOr<Secret> key = Secret();
  std::string field;
  if (!model.api_key_env.empty()) {
    key = Secret::FromEnvironment(model.api_key_env);
    field = ".api_key_env";
  } else if (!model.api_key_file.empty()) {
    key = Secret::FromFile(model.api_key_file);
    field = ".api_key_file";
  }
  if (!key.ok()) return Annotate(key.status(), model.place + field);
  return key;
}

}  // namespace warpsmith::gateway
