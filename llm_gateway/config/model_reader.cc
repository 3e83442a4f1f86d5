#include "llm_gateway/config/model_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "llm_gateway/config/yaml_reader.h"

namespace warpsmith::gateway {
namespace {

constexpr double kMaxPrice = 100'000;  // dollars a million tokens: above it is a slip
constexpr int64_t kAnthropicOutput = 32'000;

bool AllOf(const std::string& text, const char* beyond_letters_and_digits) {
  return std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view(beyond_letters_and_digits).find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool IsName(const std::string& text) { return !text.empty() && text.size() <= 100 && AllOf(text, "-_.:/"); }
bool IsWord(const std::string& text) { return !text.empty() && text.size() <= 32 && AllOf(text, "-_"); }
bool IsVariable(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 && AllOf(text, "_");
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
  model.base_url = reader.String("base_url", DefaultBaseUrl(model.provider), model.provider == "openai_compatible");
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

void ReadKey(YamlReader& reader, ModelConfig& model) {
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
  // A provider's own server takes nobody without a key.
  if (model.api_key_env.empty() && model.api_key_file.empty() && !reader.Has("base_url")) {
    model.api_key_env = DefaultKeyVariable(model.provider);
  }
}

std::string ReadEffort(YamlReader& reader, const char* key, const std::string& effort) {
  if (!effort.empty() && !IsWord(effort)) {
    reader.Fail(key, fmt::format("\"{}\" is no effort; efforts are words such as low, medium, high", effort));
  }
  return effort;
}

void ReadThinking(YamlReader& reader, ModelConfig& model) {
  model.reasoning_effort = ReadEffort(reader, "reasoning_effort", reader.String("reasoning_effort"));
  std::set<std::string> seen;
  for (const std::string& effort : reader.Strings("efforts")) {
    if (effort.empty() || !seen.insert(effort).second) {
      reader.Fail("efforts", "lists words that differ, from the least effort to the most: [low, medium, high]");
    }
    model.efforts.push_back(ReadEffort(reader, "efforts", effort));
  }
  if (model.provider != "anthropic" && model.provider != "gemini") return;
  if (!reader.Has("thinking_budget")) return;
  model.thinking_budget = reader.Integer("thinking_budget", 0, model.provider == "gemini" ? -1 : 0, 1'000'000);
  if (model.provider != "anthropic" || *model.thinking_budget == 0) return;
  const int64_t room = model.max_output_tokens > 0 ? model.max_output_tokens : kAnthropicOutput;
  if (*model.thinking_budget < 1024 || *model.thinking_budget >= room) {
    reader.Fail("thinking_budget",
                fmt::format("must be 0 (off) or from 1024 to below max_output_tokens ({} here)", room));
  }
}

void ReadExtraBody(YamlReader& reader, ModelConfig& model) {
  static const std::set<std::string> ours = {"messages", "model",      "stream",       "stream_options",
                                             "input",    "background", "instructions", "systemInstruction",
                                             "contents", "system"};
  for (const auto& [key, value] : reader.Map("extra_body")) {
    if (ours.count(key) != 0) reader.Fail(value, "extra_body." + key, "is set by the gateway; remove it");
    model.extra_body[key] = ToJson(value);
  }
}

void ReadHttp(YamlReader& reader, ModelConfig& model) {
  ReadKey(reader, model);
  ReadUrl(reader, model);
  model.model = reader.String("model", "", true);
  model.max_output_tokens = reader.Integer("max_output_tokens", 0, 0, 10'000'000);
  model.most_output_tokens = reader.Integer("most_output_tokens", 0, 0, 10'000'000);
  if (model.most_output_tokens > 0 && model.most_output_tokens < model.max_output_tokens) {
    reader.Fail("most_output_tokens", "is below max_output_tokens; it is what a truncated reply is asked again with");
  }
  if (model.provider == "openai_compatible") {
    model.max_tokens_field = reader.String("max_tokens_field", model.max_tokens_field);
    if (model.max_tokens_field != "max_tokens" && model.max_tokens_field != "max_completion_tokens") {
      reader.Fail("max_tokens_field", "must be max_completion_tokens or, for older servers, max_tokens");
    }
    model.key_header = reader.String("key_header", model.key_header);
    if (model.key_header != "authorization" && model.key_header != "api-key") {
      reader.Fail("key_header", "must be authorization (Bearer KEY) or, for Azure, api-key");
    }
  }
  if (model.provider == "openai" || model.provider == "openai_compatible") {
    model.embedding_model = reader.String("embedding_model");
    model.embedding_price = reader.OptionalNumber("embedding_price", 0, kMaxPrice);
    if (model.embedding_price && model.embedding_model.empty()) {
      reader.Fail("embedding_price", "stands without an embedding_model; name the one that it is the price of");
    }
  }
  model.temperature = reader.OptionalNumber("temperature", 0, 2);
  ReadThinking(reader, model);
  if (model.provider == "openai") model.background = reader.Boolean("background", false);
  model.structured_output = reader.Boolean("structured_output", true);
  model.connect_seconds = reader.Number("connect_seconds", model.connect_seconds, 0.01, 600);
  model.first_byte_seconds = reader.Number("first_byte_seconds", model.first_byte_seconds, 0.01, 86400);
  model.idle_seconds = reader.Number("idle_seconds", model.idle_seconds, 0.01, 86400);
  model.tries = static_cast<int>(reader.Integer("tries", model.tries, 1, 20));
  model.max_response_bytes = reader.Integer("max_response_bytes", model.max_response_bytes, 1024, 1 << 30);
  model.ca_file = reader.String("ca_file");
  model.proxy_from_environment = reader.Boolean("proxy_from_environment", false);
  ReadExtraBody(reader, model);
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

void ReadRecorded(YamlReader& reader, ModelConfig& model) {
  model.recording = reader.String("recording", "", true);
  model.upstream = reader.String("upstream");
}

std::optional<Price> ReadPrice(YamlReader& reader, const std::string& file, const std::string& path) {
  if (!reader.Has("price")) return std::nullopt;
  YamlReader fields(file, reader.Node("price"), path + ".price");
  Price price;
  for (const char* key : {"input", "output"}) {
    if (!fields.Has(key)) fields.Fail(key, "is missing; give US dollars a million tokens");
  }
  price.input = fields.Number("input", 0, 0, kMaxPrice);
  price.output = fields.Number("output", 0, 0, kMaxPrice);
  price.cached_input = fields.Number("cached_input", price.input, 0, kMaxPrice);
  price.cache_write_5m = fields.Number("cache_write_5m", price.input, 0, kMaxPrice);
  price.cache_write_1h = fields.Number("cache_write_1h", price.input, 0, kMaxPrice);
  price.reasoning = fields.Number("reasoning", price.output, 0, kMaxPrice);
  price.long_prompt_tokens = fields.Integer("long_prompt_tokens", 0, 0, 1'000'000'000);
  price.long_prompt_input = fields.Number("long_prompt_input", 1, 1, 100);
  price.long_prompt_output = fields.Number("long_prompt_output", 1, 1, 100);
  if (absl::Status status = fields.Finish(); !status.ok()) reader.Adopt(status);
  return price;
}

void ReadLimits(YamlReader& reader, ModelConfig& model, const std::string& file, const std::string& path) {
  model.total_seconds = reader.Number("total_seconds", model.total_seconds, 0.01, 86400);
  model.concurrency = static_cast<int>(reader.Integer("concurrency", model.concurrency, 1, 4096));
  model.requests_per_minute = reader.Number("requests_per_minute", 0, 0, 1e9);
  model.tokens_per_minute = reader.Number("tokens_per_minute", 0, 0, 1e12);
  model.fallback_unavailable = reader.Strings("fallback_unavailable");
  model.fallback_context = reader.Strings("fallback_context");
  model.fallback_refused = reader.Strings("fallback_refused");
  model.price = ReadPrice(reader, file, path);
  model.price_name = reader.String("price_name");
  if (model.price && !model.price_name.empty()) reader.Fail("price_name", "stands beside price; keep one of them");
}

}  // namespace

std::string DefaultBaseUrl(const std::string& provider) {
  if (provider == "openai") return "https://api.openai.com/v1";
  if (provider == "anthropic") return "https://api.anthropic.com/v1";
  if (provider == "gemini") return "https://generativelanguage.googleapis.com/v1beta";
  return "";
}

std::string DefaultKeyVariable(const std::string& provider) {
  if (provider == "openai") return "OPENAI_API_KEY";
  if (provider == "anthropic") return "ANTHROPIC_API_KEY";
  if (provider == "gemini") return "GEMINI_API_KEY";
  return "";
}

absl::StatusOr<ModelConfig> ReadModel(const YAML::Node& node, size_t index, const std::string& file) {
  const std::string path = fmt::format("models[{}]", index);
  YamlReader reader(file, node, path);
  ModelConfig model;
  model.place = reader.Place(node, "");
  model.name = reader.String("name", "", true);
  if (!model.name.empty() && !IsName(model.name)) {
    reader.Fail("name", "must be at most 100 letters, digits, and any of - _ . : /");
  }
  model.provider = reader.String("provider", "", true);
  model.enabled = reader.Boolean("enabled", true);
  if (model.IsHttp()) {
    ReadHttp(reader, model);
  } else if (model.provider == "command") {
    ReadCommand(reader, model);
  } else if (model.provider == "recorded") {
    ReadRecorded(reader, model);
  } else if (model.provider != "catalog" && !model.provider.empty()) {
    reader.Fail("provider", fmt::format("\"{}\" is unknown; use openai, anthropic, gemini, openai_compatible, command, "
                                        "recorded or catalog",
                                        model.provider));
  }
  if (model.provider != "catalog") ReadLimits(reader, model, file, path);
  WARPSMITH_RETURN_IF_ERROR(reader.Finish());
  return model;
}

}  // namespace warpsmith::gateway
