#include "llm_gateway/providers/gemini.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "llm_gateway/providers/event_reply.h"
#include "llm_gateway/providers/request_body.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

class GenerateReply final : public EventReply {
 public:
  using EventReply::EventReply;

 private:
  void TakeObject(ReplyNode object) override;
  void TakeCandidate(ReplyNode candidate);
  void TakeReason(const std::string& reason, const std::string& message);
  void TakeUsage(ReplyNode usage);
};

void GenerateReply::TakeObject(ReplyNode object) {
  if (object["error"].present()) {
    FailBy(ReadErrorEvent(object.ToJson()));
    return;
  }
  TakeUsage(object["usageMetadata"]);
  // Absent where the prompt was blocked, or in an event that only counts.
  for (const ReplyNode candidate : object["candidates"].items()) {
    if (candidate.is_object() && candidate.CountAt("index") == 0) TakeCandidate(candidate);
  }
  std::string blocked = object["promptFeedback"].TextAt("blockReason");
  if (blocked.empty() || blocked == "BLOCK_REASON_UNSPECIFIED") return;
  if (completion_.text.empty()) {
    AppendRefusal(fmt::format("The prompt was blocked: {}", OneLine(ValidText(blocked), 60)));
  }
  End("refusal");
}

void GenerateReply::TakeCandidate(ReplyNode candidate) {
  for (const ReplyNode part : candidate["content"]["parts"].items()) {
    if (part["thought"].is_true()) {
      AppendReasoning(part.TextAt("text"));
    } else {
      AppendText(part.TextAt("text"));
    }
  }
  TakeReason(candidate.TextAt("finishReason"), candidate.TextAt("finishMessage"));
}

void GenerateReply::TakeReason(const std::string& reason, const std::string& message) {
  static const std::set<std::string> refusals = {
      "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR"};
  if (reason.empty() || reason == "FINISH_REASON_UNSPECIFIED") return;
  if (reason == "STOP") {
    End("stop");
  } else if (reason == "MAX_TOKENS") {
    End("length");
  } else if (refusals.count(reason) != 0) {
    if (completion_.text.empty()) AppendRefusal(fmt::format("The answer was blocked: {} {}", reason, message));
    End("refusal");
  } else {  // OTHER, MALFORMED_FUNCTION_CALL, and what may be added: not a whole answer
    Fail(ErrorClass::kMalformedReply, fmt::format("the answer ended with finishReason \"{}\": {}",
                                                  OneLine(ValidText(reason), 60), OneLine(ValidText(message), 500)));
  }
}

// Cumulative; cached tokens are a part of the prompt's, thoughts are not a part of the candidates'.
void GenerateReply::TakeUsage(ReplyNode usage) {
  if (usage.empty()) return;
  TokenUsage counted;
  counted.input = usage.CountAt("promptTokenCount") + usage.CountAt("toolUsePromptTokenCount");
  counted.cached_input = std::min(counted.input, usage.CountAt("cachedContentTokenCount"));
  counted.output = usage.CountAt("candidatesTokenCount");
  counted.reasoning = usage.CountAt("thoughtsTokenCount");
  completion_.usage = counted;
}

std::string Path(const ModelConfig& config) {
  std::string name;
  for (unsigned char c : config.model) {
    if (std::isalnum(c) != 0 || std::string_view("-_.~/").find(static_cast<char>(c)) != std::string_view::npos) {
      name += static_cast<char>(c);
    } else {
      name += fmt::format("%{:02X}", c);
    }
  }
  if (name.find('/') == name.npos) name = "models/" + name;  // tunedModels/... stays as it is
  const std::string last = config.base_url.substr(config.base_url.rfind('/') + 1);
  const bool versioned = last.size() >= 2 && last[0] == 'v' && std::isdigit(static_cast<unsigned char>(last[1])) != 0;
  return (versioned ? "/" : "/v1beta/") + name + ":streamGenerateContent?alt=sse";
}

std::string Level(const std::string& effort) {
  if (effort == "xhigh" || effort == "max") return "HIGH";
  std::string level = effort;
  for (char& c : level) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return level;
}

// A budget in tokens or a level, never both; what the caller asks for goes before what is configured. Thoughts are
// asked for wherever the model thinks: they show that it is alive.
void PutThinking(const PromptRequest& request, const ModelConfig& config, Json& generation) {
  const std::string effort = EffortOf(request, config);
  const bool configured = request.effort.empty() && config.thinking_budget.has_value();
  const bool by_budget = configured || effort == "none";
  if (!by_budget && effort.empty()) return;
  const int64_t budget = configured ? *config.thinking_budget : 0;
  Json& thinking = ObjectAt(generation, "thinkingConfig");
  if (by_budget) {
    thinking["thinkingBudget"] = budget;
  } else {
    thinking["thinkingLevel"] = Level(effort);
  }
  const bool thinks = !by_budget || budget != 0;
  if (thinks && !thinking.contains("includeThoughts")) thinking["includeThoughts"] = true;
}

std::string WithContents(Json fields, const PromptRequest& request) {
  const std::vector<const PromptText*> system = TextsOf(request, "system");
  if (!system.empty()) fields.erase("systemInstruction");
  RequestBody body(std::move(fields), {"contents"}, TextBytes(request));
  if (!system.empty()) {
    body.Key("systemInstruction");
    body.Raw(R"({"parts":[{"text":)");
    body.String(system);
    body.Raw("}]}");
  }
  body.Key("contents");
  body.Raw("[");
  bool first = true;
  for (const PromptMessage& message : request.messages) {
    if (message.role == "system" || message.text.empty()) continue;
    body.Raw(std::exchange(first, false) ? R"({"role":)" : R"(,{"role":)");
    body.Word(message.role == "assistant" ? "model" : "user");
    body.Raw(R"(,"parts":[{"text":)");
    body.String(message.text);
    body.Raw("}]}");
  }
  body.Raw("]");
  return body.Finish();
}

}  // namespace

HttpRequestParts Gemini::Build(const PromptRequest& request, const ModelConfig& config) const {
  Json body = config.extra_body;
  Json& generation = ObjectAt(body, "generationConfig");
  if (int64_t tokens = MaxTokensOf(request, config); tokens > 0) generation["maxOutputTokens"] = tokens;
  if (config.temperature) generation["temperature"] = *config.temperature;
  PutThinking(request, config, generation);
  if (WantsSchema(request, config)) {
    // The field that takes JSON schema as it is; responseSchema knows a part of OpenAPI's only.
    generation["responseMimeType"] = "application/json";
    generation["responseJsonSchema"] = request.schema;
  }
  if (generation.empty()) body.erase("generationConfig");
  return {"POST", Path(config), {}, WithContents(std::move(body), request)};
}

std::pair<std::string, std::string> Gemini::KeyHeader(const Secret& key) const {
  return {"x-goog-api-key", key.Reveal()};
}

std::unique_ptr<ReplyReader> Gemini::NewReader(DeltaCallback on_delta) const {
  return std::make_unique<GenerateReply>(std::move(on_delta));
}

}  // namespace warpsmith::gateway
