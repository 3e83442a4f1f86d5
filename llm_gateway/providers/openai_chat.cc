#include "llm_gateway/providers/openai_chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "llm_gateway/providers/event_reply.h"
#include "llm_gateway/providers/request_body.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

class ChatReply final : public EventReply {
 public:
  using EventReply::EventReply;

 private:
  void TakeObject(ReplyNode object) override;
  void Settle() override;
  void TakeChoice(ReplyNode choice);
  void TakeReason(const std::string& reason);
  void TakeUsage(ReplyNode usage);
  // Text, or a list of parts with text.
  static std::string PieceOf(ReplyNode content);
};

void ChatReply::TakeObject(ReplyNode object) {
  if (const ReplyNode error = object["error"]; error.present() && !error.is_null()) {
    FailBy(ReadErrorEvent(object.ToJson()));
    return;
  }
  TakeUsage(object["usage"]);
  for (const ReplyNode choice : object["choices"].items()) {
    if (choice.is_object() && choice.CountAt("index") == 0) TakeChoice(choice);
  }
}

std::string ChatReply::PieceOf(ReplyNode content) {
  if (content.is_text()) return std::string(content.text());
  std::string text;
  for (const ReplyNode part : content.items()) text += part.TextAt("text");
  return text;
}

void ChatReply::TakeChoice(ReplyNode choice) {
  const ReplyNode delta = choice["delta"];
  const ReplyNode piece = delta.present() ? delta : choice["message"];
  if (const ReplyNode content = piece["content"]; content.present()) {
    content.is_text() ? AppendText(content.text()) : AppendText(PieceOf(content));
  }
  for (const char* key : {"reasoning_content", "reasoning"}) {
    const ReplyNode reasoning = piece[key];
    if (reasoning.present() && !reasoning.is_null()) {
      AppendReasoning(PieceOf(reasoning));
      break;  // servers that send both send the same text
    }
  }
  AppendRefusal(piece.TextAt("refusal"));
  TakeReason(AsciiLower(choice.TextAt("finish_reason")));
}

void ChatReply::TakeReason(const std::string& reason) {
  static const std::set<std::string> whole = {"stop",       "eos",      "eos_token",    "end_turn",
                                              "stop_token", "complete", "tool_calls",   "stop_sequence",
                                              "completed",  "tool_use", "function_call"};
  if (reason.empty()) return;
  if (whole.count(reason) != 0) {
    End("stop");
  } else if (reason == "length" || reason == "max_tokens" || reason == "model_length") {
    End("length");
  } else if (reason == "content_filter" || reason == "safety" || reason == "refusal") {
    End("refusal");
  } else if (reason == "error" || reason == "abort") {
    Fail(ErrorClass::kServer, fmt::format("the server ended its answer with finish_reason \"{}\"", reason));
  } else {
    Fail(ErrorClass::kMalformedReply,
         fmt::format("the answer ended with finish_reason \"{}\", which says nothing about whether it is whole",
                     OneLine(ValidText(reason), 60)));
  }
}

// The API counts reasoning as a part of the completion. Servers whose total is more than prompt and completion count it
// beside them, whether or not they name it.
void ChatReply::TakeUsage(ReplyNode usage) {
  if (usage.empty()) return;
  TokenUsage counted;
  const int64_t completion = usage.CountAt("completion_tokens");
  counted.input = usage.CountAt("prompt_tokens");
  counted.cached_input = std::min(counted.input, usage["prompt_tokens_details"].CountAt("cached_tokens"));
  const int64_t beside = usage.CountAt("total_tokens") - counted.input - completion;
  counted.reasoning =
      beside > 0 ? beside : std::min(completion, usage["completion_tokens_details"].CountAt("reasoning_tokens"));
  counted.output = beside > 0 ? completion : completion - counted.reasoning;
  completion_.usage = counted;
}

// "[DONE]" is some servers' only sign of an end.
void ChatReply::Settle() {
  if (completion_.finish_reason.empty() && done_marker_ && !completion_.text.empty()) End("stop");
}

// Some models' chat templates refuse two messages of one role in a row: they become one.
std::string WithMessages(Json fields, const PromptRequest& request) {
  RequestBody body(std::move(fields), {"messages"}, TextBytes(request));
  body.Key("messages");
  body.Raw("[");
  const std::vector<PromptMessage>& messages = request.messages;
  for (size_t i = 0; i < messages.size();) {
    if (i > 0) body.Raw(",");
    body.Raw(R"({"role":)");
    body.Word(messages[i].role);
    body.Raw(R"(,"content":)");
    std::vector<const PromptText*> texts;
    const std::string& role = messages[i].role;
    for (; i < messages.size() && messages[i].role == role; ++i) texts.push_back(&messages[i].text);
    body.String(texts);
    body.Raw("}");
  }
  body.Raw("]");
  return body.Finish();
}

}  // namespace

HttpRequestParts OpenAiChat::Build(const PromptRequest& request, const ModelConfig& config) const {
  Json body = config.extra_body;
  body["model"] = config.model;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (int64_t tokens = MaxTokensOf(request, config); tokens > 0) body[config.max_tokens_field] = tokens;
  if (config.temperature) body["temperature"] = *config.temperature;
  if (std::string effort = EffortOf(request, config); !effort.empty()) body["reasoning_effort"] = effort;
  if (WantsSchema(request, config)) {
    body["response_format"] = {
        {"type", "json_schema"},
        {"json_schema", {{"name", request.schema_name}, {"schema", request.schema}, {"strict", true}}}};
  }
  return {"POST", "/chat/completions", {}, WithMessages(std::move(body), request)};
}

std::pair<std::string, std::string> OpenAiChat::KeyHeader(const Secret& key) const {
  if (bare_key_) return {"api-key", key.Reveal()};
  return WireFormat::KeyHeader(key);
}

std::unique_ptr<ReplyReader> OpenAiChat::NewReader(DeltaCallback on_delta) const {
  return std::make_unique<ChatReply>(std::move(on_delta));
}

}  // namespace warpsmith::gateway
