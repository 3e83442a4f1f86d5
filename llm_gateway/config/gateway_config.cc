#include "llm_gateway/config/gateway_config.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "common/file.h"
#include "llm_gateway/config/model_reader.h"
#include "llm_gateway/config/references.h"
#include "llm_gateway/config/yaml_reader.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxModels = 100;

void ReadVariants(YamlReader& reader, GatewayConfig& config) {
  std::set<std::string> seen;
  for (const std::string& variant : reader.Strings("prompt_variants")) {
    // Each is a folder of the prompts.
    if (variant.empty() || variant.size() > 64 || variant[0] == '.' ||
        variant.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
            std::string::npos) {
      reader.Fail("prompt_variants", fmt::format("\"{}\" is no variant's name; use letters, digits, - _ .", variant));
    } else if (!seen.insert(variant).second) {
      reader.Fail("prompt_variants", fmt::format("\"{}\" stands there twice; keep one", variant));
    }
    config.prompt_variants.push_back(variant);
  }
}

void BesideConfig(const std::filesystem::path& folder, std::string& path) {
  if (!path.empty() && !folder.empty() && path[0] != '/') path = (folder / path).lexically_normal().string();
}

}  // namespace

bool ModelConfig::IsHttp() const {
  return provider == "openai" || provider == "anthropic" || provider == "gemini" || provider == "openai_compatible";
}

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
  config.place = file + ": ";
  std::vector<YAML::Node> models = reader.List("models");
  config.prices_file = reader.String("prices_file");
  ReadVariants(reader, config);
  config.max_usd_per_day = reader.Number("max_usd_per_day", 0, 0, 1e9);
  config.novelty_by = reader.String("novelty_by");
  config.novelty_threshold = reader.Number("novelty_threshold", config.novelty_threshold, 0.1, 1);
  if (config.novelty_by.empty() && reader.Has("novelty_threshold")) {
    reader.Fail("novelty_threshold", "is of embeddings; name the model that makes them in novelty_by");
  }
  WARPSMITH_RETURN_IF_ERROR(reader.Finish());
  if (models.empty()) {
    return InvalidArgument(
        fmt::format("{}:1: models: is missing or empty; list at least one model, "
                    "for instance \"models: [{{name: catalog, provider: catalog}}]\"",
                    file));
  }
  if (models.size() > kMaxModels)
    return InvalidArgument(fmt::format("{}: models: more than {} of them", file, kMaxModels));
  for (size_t i = 0; i < models.size(); ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(ModelConfig model, ReadModel(models[i], i, file));
    config.models.push_back(std::move(model));
  }
  WARPSMITH_RETURN_IF_ERROR(CheckReferences(config.models));
  if (absl::Status status = CheckNovelty(config.models, config.novelty_by); !status.ok()) {
    return Annotate(status, config.place + "novelty_by");
  }
  return config;
}

absl::StatusOr<GatewayConfig> LoadConfig(const std::string& path) {
  auto text = ReadFile(path, 1u << 20);
  if (!text.ok()) return Annotate(text.status(), "--config");
  WARPSMITH_ASSIGN_OR_RETURN(GatewayConfig config, ParseConfig(*text, path));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  BesideConfig(folder, config.prices_file);
  for (ModelConfig& model : config.models) {
    BesideConfig(folder, model.api_key_file);
    BesideConfig(folder, model.ca_file);
    BesideConfig(folder, model.recording);
  }
  return config;
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
