#include "llm_gateway/providers/openai_chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "llm_gateway/providers/event_reply.h"
#include "llm_gateway/providers/reply_json.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

class ChatReply final : public EventReply {
 public:
  using EventReply::EventReply;

 private:
  void TakeObject(const Json& object) override;
  void Settle() override;
  void TakeChoice(const Json& choice);
  void TakeReason(const std::string& reason);
  void TakeUsage(const Json& usage);
  // Text, or a list of parts with text.
  static std::string PieceOf(const Json& content);
};

void ChatReply::TakeObject(const Json& object) {
  if (auto error = object.find("error"); error != object.end() && !error->is_null()) {
    FailBy(ReadErrorEvent(object));
    return;
  }
  TakeUsage(Member(object, "usage"));
  for (const Json& choice : Items(object, "choices")) {
    if (choice.is_object() && CountOf(choice, "index") == 0) TakeChoice(choice);
  }
}

std::string ChatReply::PieceOf(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (content.is_array()) {
    for (const Json& part : content) text += TextOf(part, "text");
  }
  return text;
}

void ChatReply::TakeChoice(const Json& choice) {
  const Json& piece = choice.contains("delta") ? Member(choice, "delta") : Member(choice, "message");
  if (piece.contains("content")) AppendText(PieceOf(piece["content"]));
  for (const char* key : {"reasoning_content", "reasoning"}) {
    if (piece.contains(key) && !piece[key].is_null()) {
      AppendReasoning(PieceOf(piece[key]));
      break;  // servers that send both send the same text
    }
  }
  AppendRefusal(TextOf(piece, "refusal"));
  TakeReason(AsciiLower(TextOf(choice, "finish_reason")));
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
void ChatReply::TakeUsage(const Json& usage) {
  if (usage.empty()) return;
  TokenUsage counted;
  const int64_t completion = CountOf(usage, "completion_tokens");
  counted.input = CountOf(usage, "prompt_tokens");
  counted.cached_input = std::min(counted.input, CountOf(Member(usage, "prompt_tokens_details"), "cached_tokens"));
  const int64_t beside = CountOf(usage, "total_tokens") - counted.input - completion;
  counted.reasoning =
      beside > 0 ? beside
                 : std::min(completion, CountOf(Member(usage, "completion_tokens_details"), "reasoning_tokens"));
  counted.output = beside > 0 ? completion : completion - counted.reasoning;
  completion_.usage = counted;
}

// "[DONE]" is some servers' only sign of an end.
void ChatReply::Settle() {
  if (completion_.finish_reason.empty() && done_marker_ && !completion_.text.empty()) End("stop");
}

}  // namespace

HttpRequestParts OpenAiChat::Build(const PromptRequest& request, const ModelConfig& config) const {
  Json body = config.extra_body;
  body["model"] = config.model;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  Json messages = Json::array();
  for (const PromptMessage& message : request.messages) {
    // Some models' chat templates refuse two messages of one role in a row.
    if (!messages.empty() && messages.back()["role"] == message.role) {
      messages.back()["content"].get_ref<std::string&>() += "\n\n" + message.text;
    } else {
      messages.push_back({{"role", message.role}, {"content", message.text}});
    }
  }
  body["messages"] = std::move(messages);
  if (int64_t tokens = MaxTokensOf(request, config); tokens > 0) body[config.max_tokens_field] = tokens;
  if (config.temperature) body["temperature"] = *config.temperature;
  if (std::string effort = EffortOf(request, config); !effort.empty()) body["reasoning_effort"] = effort;
  if (WantsSchema(request, config)) {
    body["response_format"] = {
        {"type", "json_schema"},
        {"json_schema", {{"name", request.schema_name}, {"schema", request.schema}, {"strict", true}}}};
  }
  return {"POST", "/chat/completions", {}, Dump(body)};
}

std::unique_ptr<ReplyReader> OpenAiChat::NewReader(DeltaCallback on_delta) const {
  return std::make_unique<ChatReply>(std::move(on_delta));
}

}  // namespace warpsmith::gateway
