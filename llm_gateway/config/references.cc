#include "llm_gateway/config/references.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace warpsmith::gateway {
namespace {

using Models = std::map<std::string, const ModelConfig*>;

std::string Names(const Models& models) {
  std::string names;
  for (const auto& [name, model] : models) names += (names.empty() ? "" : ", ") + name;
  return names;
}

absl::Status Check(const Models& models, const ModelConfig& model, const char* field, const std::string& name) {
  const auto fail = [&](const std::string& what) {
    return InvalidArgument(fmt::format("{}.{}: {}", model.place, field, what));
  };
  const auto found = models.find(name);
  if (found == models.end()) return fail(fmt::format("there is no model \"{}\"; there are: {}", name, Names(models)));
  if (name == model.name) return fail("names the model itself; name another one or remove it");
  if (found->second->provider == "catalog") {
    return fail(fmt::format("\"{}\" is the catalog, which answers no prompts; name a model", name));
  }
  return absl::OkStatus();
}

absl::Status CheckList(const Models& models, const ModelConfig& model, const char* field,
                       const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    WARPSMITH_RETURN_IF_ERROR(Check(models, model, field, name));
    if (!seen.insert(name).second) {
      return InvalidArgument(fmt::format("{}.{}: names \"{}\" twice; keep one", model.place, field, name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckReferences(const std::vector<ModelConfig>& models) {
  Models by_name;
  for (const ModelConfig& model : models) {
    if (!by_name.emplace(model.name, &model).second) {
      return InvalidArgument(
          fmt::format("{}.name: \"{}\" is taken by an earlier model; names must differ", model.place, model.name));
    }
  }
  std::map<std::string, const ModelConfig*> recordings;
  for (const ModelConfig& model : models) {
    WARPSMITH_RETURN_IF_ERROR(CheckList(by_name, model, "fallback_unavailable", model.fallback_unavailable));
    WARPSMITH_RETURN_IF_ERROR(CheckList(by_name, model, "fallback_context", model.fallback_context));
    WARPSMITH_RETURN_IF_ERROR(CheckList(by_name, model, "fallback_refused", model.fallback_refused));
    if (model.provider != "recorded") continue;
    if (const auto [other, added] = recordings.emplace(model.recording, &model); !added) {
      return InvalidArgument(fmt::format("{}.recording: {} is {}'s file; give each model one of its own", model.place,
                                         model.recording, other->second->name));
    }
    if (model.upstream.empty()) continue;
    WARPSMITH_RETURN_IF_ERROR(Check(by_name, model, "upstream", model.upstream));
    if (by_name[model.upstream]->provider == "recorded") {
      return InvalidArgument(
          fmt::format("{}.upstream: \"{}\" is a recorded model itself; name the model that is to be recorded",
                      model.place, model.upstream));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNovelty(const std::vector<ModelConfig>& models, const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  std::string able;
  for (const ModelConfig& model : models) {
    if (model.embedding_model.empty()) continue;
    if (model.name == name) return absl::OkStatus();
    able += (able.empty() ? "" : ", ") + model.name;
  }
  return InvalidArgument(fmt::format("there is no model \"{}\" with an embedding_model; there are: {}", name,
                                     able.empty() ? "none" : able));
}

}  // namespace warpsmith::gateway
