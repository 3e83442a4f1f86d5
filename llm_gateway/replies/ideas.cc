#include "llm_gateway/replies/ideas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "llm_gateway/replies/ideas_prose.h"
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
  idea.set_title(TextField(object,
                           {"title", "name", "idea", "optimisation method", "optimization method",
                            "optimisation_method", "optimization_method", "optimization", "optimisation"},
                           kMaxTitle));
  if (idea.title().empty()) return false;
  idea.set_category(NormalCategory(TextField(object, {"category", "type", "kind", "class"}, 100), idea.title()));
  idea.set_bottleneck(TextField(object, {"bottleneck", "limiter", "problem"}, kMaxText));
  idea.set_evidence(TextField(object, {"evidence", "evidence_metrics", "metrics"}, kMaxText));
  idea.set_hypothesis(TextField(object, {"hypothesis", "rationale", "reasoning", "why", "description"}, kMaxText));
  ReadSteps(Find(object, {"plan", "steps", "modification plan", "modification_plan", "implementation",
                          "implementation_plan", "actions"}),
            idea);
  idea.set_expected_speedup(Speedup(Find(object, {"expected_speedup", "speedup", "expected_gain", "expected",
                                                  "expected_improvement", "expected_vs_baseline_factor"})));
  std::string risk = AsciiLower(TextField(object, {"risk"}, 40));
  idea.set_risk(risk.find("high") != risk.npos ? "high" : risk.find("low") != risk.npos ? "low" : "medium");
  idea.set_changes_precision(Truth(Find(object, {"changes_precision", "precision_change", "changesPrecision"})));
  return true;
}

constexpr int kMaxNesting = 4;

// How the objects of a reply were taken.
struct Taken {
  std::vector<v1::Idea> ideas;
  int untitled = 0;  // objects with some field of an idea, but no title
};

bool LooksLikeIdea(const Json& object) {
  return Find(object, {"category", "bottleneck", "hypothesis", "plan", "expected_speedup"}) != nullptr;
}

// "1", "idea_2", "Idea 3": what objects are called that should stand in a list. -1: something else.
long Ordinal(const std::string& key) {
  const std::string name = AsciiLower(key);
  const size_t start = name.rfind("idea", 0) == 0 ? 4 : 0;
  const size_t digits = name.find_first_not_of(" _-#", start);
  if (digits == name.npos || name.find_first_not_of("0123456789", digits) != name.npos) return -1;
  return std::strtol(name.c_str() + digits, nullptr, 10);
}

// An object with "ideas", a list of ideas, ideas by number, one idea, or any of these as text.
void Collect(const Json& value, Taken& taken, int depth = 0) {
  if (depth > kMaxNesting) return;
  if (value.is_string()) {
    for (const Json& inner : FindJsonValues(value.get<std::string>())) Collect(inner, taken, depth + 1);
    return;
  }
  if (value.is_array()) {
    for (const Json& item : value) {
      if (item.is_object()) Collect(item, taken, depth + 1);
    }
    return;
  }
  if (!value.is_object()) return;
  const Json* list = Find(value, {"ideas", "optimizations", "optimisations", "optimization_ideas", "proposals",
                                  "answer", "response", "result"});
  if (list != nullptr && (list->is_array() || list->is_object() || list->is_string())) {
    Collect(*list, taken, depth + 1);
    return;
  }
  if (const Json* inner = Find(value, {"idea", "optimization", "optimisation"});
      inner != nullptr && inner->is_object()) {
    Collect(*inner, taken, depth + 1);
    return;
  }
  v1::Idea idea;
  if (ReadIdea(value, idea)) {
    taken.ideas.push_back(std::move(idea));
    return;
  }
  std::vector<std::pair<long, const Json*>> numbered;
  for (const auto& item : value.items()) {
    if (item.value().is_object() && Ordinal(item.key()) >= 0) numbered.emplace_back(Ordinal(item.key()), &item.value());
  }
  std::sort(numbered.begin(), numbered.end());
  for (const auto& item : numbered) Collect(*item.second, taken, depth + 1);
  if (numbered.empty() && LooksLikeIdea(value)) ++taken.untitled;
}

Taken Gather(std::string_view text) {
  // Values are gathered from the whole text, so that one list cut in two by prose is read as well as one object.
  Taken taken;
  for (const Json& value : FindJsonValues(text)) Collect(value, taken);
  if (!taken.ideas.empty()) return taken;
  Taken otherwise;
  for (const Json& value : FindJsonValues(PythonToJson(text))) Collect(value, otherwise);
  if (!otherwise.ideas.empty()) return otherwise;
  for (const Json& value : FindKeyedIdeas(text)) Collect(value, otherwise);
  return otherwise.ideas.empty() ? taken : otherwise;
}

// Why a reply has no idea at all.
std::string NothingFound(const SpokenText& spoken, const Taken& taken) {
  if (spoken.thinking_never_ended) return "the reply ended while the model was still thinking";
  if (TrimSpace(spoken.text).empty()) return "the reply is empty";
  if (taken.untitled > 0) return fmt::format("objects without a title: {}", taken.untitled);
  if (spoken.text.find("\"title\"") != spoken.text.npos) {
    return "the reply ended, or its JSON broke, before the first idea was whole";
  }
  if (!FindJsonValues(spoken.text).empty()) return "the JSON in the reply holds no idea";
  return "the reply holds no idea in JSON; it begins: " + OneLine(spoken.text, 160);
}

}  // namespace

IdeasReply ReadIdeas(std::string_view reply, int count, const std::vector<std::string>& tried_titles) {
  const SpokenText spoken = OutsideThinking(reply);
  Taken taken = Gather(spoken.text);

  IdeasReply result;
  std::set<std::string> tried, said;
  for (const std::string& title : tried_titles) tried.insert(TitleKey(title));
  int tried_before = 0, said_twice = 0;
  for (v1::Idea& idea : taken.ideas) {
    if (static_cast<int>(result.ideas.size()) >= count) break;
    const std::string key = TitleKey(idea.title());
    if (tried.count(key) > 0) {
      ++tried_before;
    } else if (!said.insert(key).second) {
      ++said_twice;
    } else {
      result.ideas.push_back(std::move(idea));
    }
  }
  if (static_cast<int>(result.ideas.size()) >= count) return result;
  result.shortfall = fmt::format("{} of {} ideas", result.ideas.size(), count);
  auto add = [&result](const std::string& reason) { result.shortfall += "; " + reason; };
  if (tried_before > 0) add(fmt::format("{} tried before", tried_before));
  if (said_twice > 0) add(fmt::format("{} said twice", said_twice));
  if (taken.ideas.empty()) {
    add(NothingFound(spoken, taken));
  } else if (taken.untitled > 0) {
    add(fmt::format("{} without a title", taken.untitled));
  }
  return result;
}

}  // namespace warpsmith::gateway
