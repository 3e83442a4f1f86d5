#include "llm_gateway/replies/ideas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "llm_gateway/replies/lenient_json.h"
#include "llm_gateway/replies/outside_thinking.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxTitle = 200;
constexpr size_t kMaxText = 2000;
constexpr int kMaxSteps = 12;

const Json* Find(const Json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    auto found = object.find(name);
    if (found != object.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

std::string AsText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::string text;
    for (const Json& item : value) text += (text.empty() ? "" : "; ") + AsText(item);
    return text;
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string TextField(const Json& object, std::initializer_list<const char*> names, size_t most) {
  const Json* value = Find(object, names);
  return value == nullptr ? "" : OneLine(ValidText(AsText(*value)), most);
}

// 1.3, "1.3x", "30%", "1.2-1.5x": the first number, a percentage as one plus it.
double Speedup(const Json* value) {
  if (value == nullptr) return 0;
  double number = 0;
  if (value->is_number()) {
    number = value->get<double>();
  } else if (value->is_string()) {
    const std::string text = value->get<std::string>();
    size_t start = text.find_first_of("0123456789");
    if (start == text.npos) return 0;
    char* end = nullptr;
    number = std::strtod(text.c_str() + start, &end);
    if (TrimSpace(end).rfind('%', 0) == 0) number = 1 + number / 100;
  }
  return std::isfinite(number) && number > 0 && number < 1e6 ? number : 0;
}

bool Truth(const Json* value) {
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  return value->is_string() &&
         (AsciiLower(value->get<std::string>()) == "true" || AsciiLower(value->get<std::string>()) == "yes");
}

void ReadSteps(const Json* value, v1::Idea& idea) {
  if (value == nullptr) return;
  std::vector<std::string> steps;
  if (value->is_array()) {
    for (const Json& item : *value) steps.push_back(AsText(item));
  } else if (value->is_string()) {
    const std::string text = value->get<std::string>();
    for (std::string_view line : SplitLines(text)) steps.emplace_back(line);
  }
  for (const std::string& step : steps) {
    std::string line = OneLine(ValidText(step), kMaxText / 2);
    if (!line.empty() && idea.plan_size() < kMaxSteps) idea.add_plan(line);
  }
}

bool ReadIdea(const Json& object, v1::Idea& idea) {
  if (!object.is_object()) return false;
  idea.set_title(TextField(object, {"title", "name", "idea", "optimisation method", "optimization method"}, kMaxTitle));
  if (idea.title().empty()) return false;
  idea.set_category(NormalCategory(TextField(object, {"category", "type", "kind"}, 100), idea.title()));
  idea.set_bottleneck(TextField(object, {"bottleneck"}, kMaxText));
  idea.set_evidence(TextField(object, {"evidence", "evidence_metrics"}, kMaxText));
  idea.set_hypothesis(TextField(object, {"hypothesis", "rationale", "reasoning", "why", "description"}, kMaxText));
  ReadSteps(Find(object, {"plan", "steps", "modification plan", "implementation"}), idea);
  idea.set_expected_speedup(Speedup(Find(object, {"expected_speedup", "speedup", "expected_gain", "expected"})));
  std::string risk = AsciiLower(TextField(object, {"risk"}, 40));
  idea.set_risk(risk.find("high") != risk.npos ? "high" : risk.find("low") != risk.npos ? "low" : "medium");
  idea.set_changes_precision(Truth(Find(object, {"changes_precision", "precision_change"})));
  return true;
}

// An object with "ideas", a list of ideas, or one idea.
void Collect(const Json& value, std::vector<v1::Idea>& ideas) {
  const Json* list = &value;
  if (value.is_object()) {
    const Json* inner = Find(value, {"ideas", "optimizations", "optimisations", "proposals"});
    if (inner != nullptr && (inner->is_array() || inner->is_object())) list = inner;
  }
  if (list->is_array()) {
    for (const Json& item : *list) {
      v1::Idea idea;
      if (ReadIdea(item, idea)) ideas.push_back(std::move(idea));
    }
    return;
  }
  v1::Idea idea;
  if (ReadIdea(*list, idea)) ideas.push_back(std::move(idea));
}

std::string Key(std::string_view text) {
  std::string key;
  for (char c : AsciiLower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      key += c;
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  return key;
}

struct CategoryWord {
  const char* word;
  const char* category;
};

// Looked for in this order, the telling words first: "memory latency hiding" is about latency.
constexpr CategoryWord kCategoryWords[] = {
    {"async", "async_latency"},
    {"latency", "async_latency"},
    {"pipelin", "async_latency"},
    {"prefetch", "async_latency"},
    {"double_buffer", "async_latency"},
    {"overlap", "async_latency"},
    {"precision", "precision"},
    {"dtype", "precision"},
    {"data_type", "precision"},
    {"fp16", "precision"},
    {"bf16", "precision"},
    {"tf32", "precision"},
    {"quanti", "precision"},
    {"parallel", "parallelism_occupancy"},
    {"occupancy", "parallelism_occupancy"},
    {"launch_config", "parallelism_occupancy"},
    {"block_size", "parallelism_occupancy"},
    {"split_k", "parallelism_occupancy"},
    {"control", "control_flow"},
    {"unroll", "control_flow"},
    {"loop", "control_flow"},
    {"branch", "control_flow"},
    {"fus", "control_flow"},
    {"memory", "memory_access"},
    {"coalesc", "memory_access"},
    {"vector", "memory_access"},
    {"cache", "memory_access"},
    {"shared", "memory_access"},
    {"layout", "memory_access"},
    {"bandwidth", "memory_access"},
    {"tiling", "memory_access"},
    {"compute", "compute"},
    {"instruction", "compute"},
    {"tensor_core", "compute"},
    {"arithmetic", "compute"},
    {"algorithm", "compute"},
};

}  // namespace

std::string TitleKey(std::string_view title) {
  std::string key;
  for (char c : AsciiLower(title)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80) key += c;
  }
  return key;
}

std::string NormalCategory(std::string_view category, std::string_view title) {
  std::string key = Key(category);
  while (!key.empty() && key.back() == '_') key.pop_back();
  for (const char* name :
       {"memory_access", "async_latency", "precision", "compute", "parallelism_occupancy", "control_flow"}) {
    if (key == name) return key;
  }
  for (const std::string& text : {key, Key(title)}) {
    for (const CategoryWord& entry : kCategoryWords) {
      if (text.find(entry.word) != text.npos) return entry.category;
    }
  }
  return "compute";
}

IdeasReply ReadIdeas(std::string_view reply, int count, const std::vector<std::string>& tried_titles) {
  SpokenText spoken = OutsideThinking(reply);
  // Values are gathered from the whole text, so that one list cut in two by prose is read as well as one object.
  std::vector<v1::Idea> found;
  for (const Json& value : FindJsonValues(spoken.text)) Collect(value, found);

  IdeasReply result;
  std::set<std::string> seen;
  for (const std::string& title : tried_titles) seen.insert(TitleKey(title));
  int repeated = 0;
  for (v1::Idea& idea : found) {
    if (static_cast<int>(result.ideas.size()) >= count) break;
    if (!seen.insert(TitleKey(idea.title())).second) {
      ++repeated;
      continue;
    }
    result.ideas.push_back(std::move(idea));
  }
  if (static_cast<int>(result.ideas.size()) < count) {
    result.shortfall = fmt::format("{} of {} ideas", result.ideas.size(), count);
    if (repeated > 0) result.shortfall += fmt::format("; {} were tried before or said twice", repeated);
    if (found.empty()) {
      result.shortfall += spoken.thinking_never_ended ? "; the reply ended while the model was still thinking"
                                                      : "; the reply holds no idea in JSON";
    }
  }
  return result;
}

}  // namespace warpsmith::gateway
