#include "llm_gateway/prompts/prompt_beginnings.h"

#include <fmt/format.h>

#include <utility>

#include "llm_gateway/prompts/describe.h"
#include "llm_gateway/prompts/device_facts.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxKept = 16u << 20;  // keys and texts, the texts about twice

// Parsing has checked that every slot is one of those that are filled.
std::string Filled(const PromptTemplate& part, const std::map<std::string, std::string>& values) {
  return ValidText(part.Render(values).value());
}

const PromptTemplate& GuideOf(const PromptVariant& variant, PromptKind kind) {
  switch (kind) {
    case PromptKind::kIdeas:
      return variant.ideas_guide;
    case PromptKind::kCode:
      return variant.code_guide;
    case PromptKind::kRepair:
      return variant.repair_guide;
  }
  return variant.code_guide;
}

// All that the second message is made of; maps within have no order, so that the same context may miss what is kept.
std::string KeyOf(const PromptVariant& variant, const v1::ProblemContext& context) {
  std::string key = variant.name + '\n';
  for (int accepted : context.accepted()) key += std::to_string(accepted) + ',';
  key += context.frozen_weights() ? 'f' : '-';
  key += fmt::format("{}\n", context.device().ByteSizeLong());
  context.device().AppendToString(&key);
  context.problem().AppendToString(&key);
  return key;
}

}  // namespace

PromptBeginnings::Entry& PromptBeginnings::EntryOf(const PromptVariant& variant, const v1::ProblemContext& context) {
  Key key = KeyOf(variant, context);
  if (const auto found = entries_.find(key); found != entries_.end()) {
    order_.splice(order_.begin(), order_, found->second.place);
    return found->second;
  }
  Entry entry;
  entry.problem = PromptText::ForMany(Filled(variant.problem, {{"device", DescribeDevice(context.device())},
                                                               {"problem", DescribeProblem(context)},
                                                               {"precision", DescribePrecision(context)}}));
  entry.bytes = 2 * (key.size() + entry.problem.size());
  bytes_ += entry.bytes;
  while (bytes_ > kMaxKept && !order_.empty()) {
    const auto oldest = entries_.find(order_.back());
    bytes_ -= oldest->second.bytes;
    order_.pop_back();
    entries_.erase(oldest);
  }
  order_.push_front(key);
  entry.place = order_.begin();
  return entries_.emplace(std::move(key), std::move(entry)).first->second;
}

PromptBeginning PromptBeginnings::Find(const PromptVariant& variant, PromptKind kind,
                                       const v1::ProblemContext& context) {
  std::lock_guard lock(mutex_);
  Entry& entry = EntryOf(variant, context);
  std::optional<PromptBeginning>& kept = entry.kinds[static_cast<size_t>(kind)];
  if (kept) return *kept;
  const PromptTemplate& guide = GuideOf(variant, kind);
  PromptText& system = systems_[fmt::format("{}/{}", variant.name, static_cast<int>(kind))];
  if (system.empty()) system = PromptText::ForMany(Filled(variant.contract, {}) + Filled(guide, {}));
  kept.emplace();
  kept->system = system;
  kept->problem = entry.problem;
  kept->version =
      fmt::format("{}/{}+{}+{}", variant.name, variant.contract.version(), guide.version(), variant.problem.version());
  kept->digest.Add(system.str());
  kept->digest.Add(std::string_view("\0", 1));
  kept->digest.Add(entry.problem.str());
  return *kept;
}

size_t PromptBeginnings::kept_bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace warpsmith::gateway
