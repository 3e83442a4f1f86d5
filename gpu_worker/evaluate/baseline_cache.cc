#include "gpu_worker/evaluate/baseline_cache.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include "common/file.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/log.h"

namespace warpsmith::evaluate {

std::string BaselineKey::ToString() const {
  return fmt::format("{}\n{}\n{}\n{} W\nPyTorch {}\n{}", problem_id, gpu_model, driver, power_limit_watts,
                     pytorch_version, harness_rev);
}

std::filesystem::path BaselineCache::PathOf(const BaselineKey& key) const {
  return folder_ / (Sha256Hex(key.ToString()) + ".json");
}

std::optional<std::vector<v1::Baseline>> BaselineCache::Load(const BaselineKey& key) const {
  if (folder_.empty()) return std::nullopt;
  absl::StatusOr<std::string> text = ReadFile(PathOf(key));
  if (!text.ok()) return std::nullopt;
  absl::StatusOr<Json> json = ParseStrictJson(*text);
  if (!json.ok() || !json->is_object() || json->value("key", "") != key.ToString()) return std::nullopt;
  std::vector<v1::Baseline> baselines;
  auto list = json->find("baselines");
  if (list == json->end() || !list->is_array() || list->empty()) return std::nullopt;
  for (const Json& entry : *list) {
    v1::Baseline& baseline = baselines.emplace_back();
    if (!google::protobuf::util::JsonStringToMessage(entry.dump(), &baseline).ok()) return std::nullopt;
    // One that cannot be had here has a reason in the place of a time; it would not be had the next time either.
    if (!(baseline.median_ms() > 0) && baseline.skipped_reason().empty()) return std::nullopt;
  }
  return baselines;
}

void BaselineCache::Store(const BaselineKey& key, const std::vector<v1::Baseline>& baselines) const {
  if (folder_.empty() || baselines.empty()) return;
  Json list = Json::array();
  for (const v1::Baseline& baseline : baselines) {
    std::string text;
    if (!google::protobuf::util::MessageToJsonString(baseline, &text).ok()) return;
    list.push_back(Json::parse(text, nullptr, false));
  }
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  const Json json = {{"key", key.ToString()}, {"baselines", std::move(list)}};
  absl::Status stored =
      WriteFileAtomically(PathOf(key), json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!stored.ok()) spdlog::warn("baselines are not kept: {}", Message(stored));
}

}  // namespace warpsmith::evaluate
