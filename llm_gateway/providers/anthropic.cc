#include "llm_gateway/providers/anthropic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "llm_gateway/providers/event_reply.h"
#include "llm_gateway/providers/request_body.h"
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
  void TakeObject(ReplyNode object) override;
  void TakeBlock(ReplyNode block);
  void TakeMessage(ReplyNode message);
  void TakeReason(const std::string& reason);
  void TakeUsage(ReplyNode usage);

  std::map<std::string_view, int64_t> counts_;  // the latest of each: later events repeat some of them, cumulatively
};

void MessagesReply::TakeObject(ReplyNode object) {
  const std::string type = object.TextAt("type");
  if (type == "error" || object["error"].present()) {
    FailBy(ReadErrorEvent(object.ToJson()));
  } else if (type == "message_start") {
    TakeMessage(object["message"]);
  } else if (type == "message") {  // not streamed
    TakeMessage(object);
  } else if (type == "content_block_start") {
    TakeBlock(object["content_block"]);
  } else if (type == "content_block_delta") {
    TakeBlock(object["delta"]);
  } else if (type == "message_delta") {
    TakeUsage(object["usage"]);
    TakeReason(object["delta"].TextAt("stop_reason"));
  }  // message_stop after the reason to stop, ping, content_block_stop, and what may be added
}

// A block or a piece of one: text, text_delta, thinking, thinking_delta; signatures and redacted thinking say nothing.
void MessagesReply::TakeBlock(ReplyNode block) {
  AppendReasoning(block.TextAt("thinking"));
  AppendText(block.TextAt("text"));
}

void MessagesReply::TakeMessage(ReplyNode message) {
  for (const ReplyNode block : message["content"].items()) TakeBlock(block);
  TakeUsage(message["usage"]);
  TakeReason(message.TextAt("stop_reason"));
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
void MessagesReply::TakeUsage(ReplyNode usage) {
  for (const char* key : {"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}) {
    if (usage.HasCountAt(key)) counts_[key] = usage.CountAt(key);
  }
  if (const ReplyNode written = usage["cache_creation"]; !written.empty()) {
    counts_["written_1h"] = written.CountAt("ephemeral_1h_input_tokens");
  }
  if (const ReplyNode details = usage["output_tokens_details"]; !details.empty()) {
    counts_["thinking"] = details.CountAt("thinking_tokens");
  }
  TokenUsage counted;
  const int64_t written = counts_["cache_creation_input_tokens"];
  const int64_t output = counts_["output_tokens"];
  counted.cached_input = counts_["cache_read_input_tokens"];
  counted.cache_write_1h = std::min(written, counts_["written_1h"]);
  counted.cache_write_5m = written - counted.cache_write_1h;
  counted.input = counts_["input_tokens"] + counted.cached_input + written;
  counted.reasoning = std::min(output, counts_["thinking"]);
  counted.output = output - counted.reasoning;
  completion_.usage = counted;
}

// Each part that stays the same from call to call ends something that is cached: the rules, which all problems share,
// and the problem. The API takes four such marks.
class MessagesBody {
 public:
  MessagesBody(Json fields, const PromptRequest& request)
      : request_(request),
        has_system_(!TextsOf(request, "system").empty()),
        body_(std::move(fields), {"messages", has_system_ ? "system" : "messages"}, TextBytes(request)) {}

  std::string Write() {
    if (has_system_) WriteSystem();
    body_.Key("messages");
    body_.Raw("[");
    bool first = true;
    for (size_t i = 0; i < request_.messages.size();) {
      const PromptMessage& message = request_.messages[i];
      if (message.role == "system" || message.text.empty()) {
        ++i;
        continue;
      }
      body_.Raw(std::exchange(first, false) ? R"({"role":)" : R"(,{"role":)");
      body_.Word(message.role);
      body_.Raw(R"(,"content":[)");
      i = WriteBlocksOf(message.role, i);
      body_.Raw("]}");
    }
    body_.Raw("]");
    return body_.Finish();
  }

 private:
  void WriteSystem() {
    body_.Key("system");
    body_.Raw("[");
    bool first = true;
    for (const PromptMessage& message : request_.messages) {
      if (message.role == "system") WriteBlock(message, first);
    }
    body_.Raw("]");
  }
  // From `from` on until another role speaks; system messages, which stand elsewhere, are passed over.
  size_t WriteBlocksOf(const std::string& role, size_t from) {
    bool first = true;
    size_t i = from;
    for (; i < request_.messages.size(); ++i) {
      const PromptMessage& message = request_.messages[i];
      if (message.role == "system" || message.text.empty()) continue;
      if (message.role != role) break;
      WriteBlock(message, first);
    }
    return i;
  }
  void WriteBlock(const PromptMessage& message, bool& first) {
    if (message.text.empty()) return;  // the API refuses empty blocks
    body_.Raw(std::exchange(first, false) ? R"({"type":"text","text":)" : R"(,{"type":"text","text":)");
    body_.String(message.text);
    if (message.cacheable && marks_-- > 0) body_.Raw(R"(,"cache_control":{"type":"ephemeral"})");
    body_.Raw("}");
  }

  const PromptRequest& request_;
  const bool has_system_;
  RequestBody body_;
  int marks_ = kMostCacheMarks;
};

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
  if (!body.contains("thinking")) return false;
  const Json& thinking = body["thinking"];
  return !(thinking.is_object() && thinking.value("type", Json()) == "disabled");
}

}  // namespace

HttpRequestParts Anthropic::Build(const PromptRequest& request, const ModelConfig& config) const {
  Json body = config.extra_body;
  body["model"] = config.model;
  body["stream"] = true;
  int64_t max_tokens = MaxTokensOf(request, config);
  if (max_tokens <= 0) max_tokens = kDefaultMaxTokens;
  body["max_tokens"] = max_tokens;
  const bool thinks = PutThinking(config, EffortOf(request, config), max_tokens, body);
  if (config.temperature && !thinks) body["temperature"] = *config.temperature;  // refused beside thinking
  if (WantsSchema(request, config)) {
    ObjectAt(body, "output_config")["format"] = {{"type", "json_schema"}, {"schema", request.schema}};
  }
  const std::string& base = config.base_url;
  const bool versioned = base.size() >= 3 && base.compare(base.size() - 3, 3, "/v1") == 0;
  return {"POST",
          versioned ? "/messages" : "/v1/messages",
          {{"anthropic-version", "2023-06-01"}},
          MessagesBody(std::move(body), request).Write()};
}

std::pair<std::string, std::string> Anthropic::KeyHeader(const Secret& key) const {
  return {"x-api-key", key.Reveal()};
}

std::unique_ptr<ReplyReader> Anthropic::NewReader(DeltaCallback on_delta) const {
  return std::make_unique<MessagesReply>(std::move(on_delta));
}

}  // namespace warpsmith::gateway
