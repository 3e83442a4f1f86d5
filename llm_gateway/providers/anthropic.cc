#include "llm_gateway/providers/anthropic.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm_gateway/providers/event_reply.h"
#include "llm_gateway/providers/reply_json.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr int64_t kDefaultMaxTokens = 32'000;  // the API has no default
constexpr int64_t kLeastThinking = 1024;       // the API's own floor of a budget
constexpr int kMostCacheMarks = 4;

class MessagesReply final : public EventReply {
 public:
  using EventReply::EventReply;

 private:
  void TakeObject(const Json& object) override;
  void TakeBlock(const Json& block);
  void TakeMessage(const Json& message);
  void TakeReason(const std::string& reason);
  void TakeUsage(const Json& usage);

  Json counts_ = Json::object();  // the latest of each count: later events repeat some of them, cumulatively
};

void MessagesReply::TakeObject(const Json& object) {
  const std::string type = TextOf(object, "type");
  if (type == "error" || object.contains("error")) {
    FailBy(ReadErrorEvent(object));
  } else if (type == "message_start") {
    TakeMessage(Member(object, "message"));
  } else if (type == "message") {  // not streamed
    TakeMessage(object);
  } else if (type == "content_block_start") {
    TakeBlock(Member(object, "content_block"));
  } else if (type == "content_block_delta") {
    TakeBlock(Member(object, "delta"));
  } else if (type == "message_delta") {
    TakeUsage(Member(object, "usage"));
    TakeReason(TextOf(Member(object, "delta"), "stop_reason"));
  }  // message_stop after the reason to stop, ping, content_block_stop, and what may be added
}

// A block or a piece of one: text, text_delta, thinking, thinking_delta; signatures and redacted thinking say nothing.
void MessagesReply::TakeBlock(const Json& block) {
  AppendReasoning(TextOf(block, "thinking"));
  AppendText(TextOf(block, "text"));
}

void MessagesReply::TakeMessage(const Json& message) {
  for (const Json& block : Items(message, "content")) TakeBlock(block);
  TakeUsage(Member(message, "usage"));
  TakeReason(TextOf(message, "stop_reason"));
}

void MessagesReply::TakeReason(const std::string& reason) {
  if (reason.empty()) return;
  if (reason == "end_turn" || reason == "stop_sequence" || reason == "tool_use") {
    End("stop");
  } else if (reason == "max_tokens" || reason == "model_context_window_exceeded") {
    End("length");
  } else if (reason == "refusal") {
    End("refusal");
  } else {  // pause_turn, and what may be added: not a whole answer
    Fail(ErrorClass::kMalformedReply,
         fmt::format("the answer ended with stop_reason \"{}\": it is not whole", OneLine(ValidText(reason), 60)));
  }
}

// input_tokens leaves out what was read from the cache or written to it; output_tokens includes thinking.
void MessagesReply::TakeUsage(const Json& usage) {
  for (const char* key : {"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}) {
    if (HasCount(usage, key)) counts_[key] = usage[key];
  }
  for (const char* key : {"cache_creation", "output_tokens_details"}) {
    if (!Member(usage, key).empty()) counts_[key] = usage[key];
  }
  TokenUsage counted;
  const int64_t written = CountOf(counts_, "cache_creation_input_tokens");
  const int64_t output = CountOf(counts_, "output_tokens");
  counted.cached_input = CountOf(counts_, "cache_read_input_tokens");
  counted.cache_write_1h = std::min(written, CountOf(Member(counts_, "cache_creation"), "ephemeral_1h_input_tokens"));
  counted.cache_write_5m = written - counted.cache_write_1h;
  counted.input = CountOf(counts_, "input_tokens") + counted.cached_input + written;
  counted.reasoning = std::min(output, CountOf(Member(counts_, "output_tokens_details"), "thinking_tokens"));
  counted.output = output - counted.reasoning;
  completion_.usage = counted;
}

// Each part that stays the same from call to call ends something that is cached: the rules, which all problems share,
// and the problem. The API takes four such marks.
void PutMessages(const PromptRequest& request, Json& body) {
  int marks = kMostCacheMarks;
  Json system = Json::array(), messages = Json::array();
  for (const PromptMessage& message : request.messages) {
    if (message.text.empty()) continue;  // the API refuses empty blocks
    Json block = {{"type", "text"}, {"text", message.text}};
    if (message.cacheable && marks-- > 0) block["cache_control"] = {{"type", "ephemeral"}};
    if (message.role == "system") {
      system.push_back(std::move(block));
    } else if (!messages.empty() && messages.back()["role"] == message.role) {
      messages.back()["content"].push_back(std::move(block));
    } else {
      messages.push_back({{"role", message.role}, {"content", Json::array({std::move(block)})}});
    }
  }
  if (!system.empty()) body["system"] = std::move(system);
  body["messages"] = std::move(messages);
}

// Whether the model thinks.
bool PutThinking(const ModelConfig& config, const std::string& effort, int64_t max_tokens, Json& body) {
  if (!effort.empty()) ObjectAt(body, "output_config")["effort"] = effort;
  if (config.thinking_budget == 0) {
    body["thinking"] = {{"type", "disabled"}};
  } else if (config.thinking_budget > 0) {
    // A caller's lower cap takes thinking's room first: a thought without an answer is worth nothing.
    int64_t budget = *config.thinking_budget;
    if (budget >= max_tokens) budget = std::max(kLeastThinking, max_tokens / 4 * 3);
    if (budget >= max_tokens) return false;
    body["thinking"] = {{"type", "enabled"}, {"budget_tokens", budget}};
  } else if (config.thinking_budget || !effort.empty()) {
    if (!body.contains("thinking")) body["thinking"] = {{"type", "adaptive"}};
  }
  return body.contains("thinking") && TextOf(body["thinking"], "type") != "disabled";
}

}  // namespace

HttpRequestParts Anthropic::Build(const PromptRequest& request, const ModelConfig& config) const {
  Json body = config.extra_body;
  body["model"] = config.model;
  body["stream"] = true;
  int64_t max_tokens = MaxTokensOf(request, config);
  if (max_tokens <= 0) max_tokens = kDefaultMaxTokens;
  body["max_tokens"] = max_tokens;
  PutMessages(request, body);
  const bool thinks = PutThinking(config, EffortOf(request, config), max_tokens, body);
  if (config.temperature && !thinks) body["temperature"] = *config.temperature;  // refused beside thinking
  if (WantsSchema(request, config)) {
    ObjectAt(body, "output_config")["format"] = {{"type", "json_schema"}, {"schema", request.schema}};
  }
  const std::string& base = config.base_url;
  const bool versioned = base.size() >= 3 && base.compare(base.size() - 3, 3, "/v1") == 0;
  return {"POST", versioned ? "/messages" : "/v1/messages", {{"anthropic-version", "2023-06-01"}}, Dump(body)};
}

std::pair<std::string, std::string> Anthropic::KeyHeader(const Secret& key) const {
  return {"x-api-key", key.Reveal()};
}

std::unique_ptr<ReplyReader> Anthropic::NewReader(DeltaCallback on_delta) const {
  return std::make_unique<MessagesReply>(std::move(on_delta));
}

}  // namespace warpsmith::gateway
