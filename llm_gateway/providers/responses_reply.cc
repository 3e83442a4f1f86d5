#include "llm_gateway/providers/responses_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr int kMostFruitless = 8;
constexpr double kFirstPollSeconds = 0.5;
constexpr double kLongestPollSeconds = 8;

double Backoff(int times) {
  return std::min(kLongestPollSeconds, kFirstPollSeconds * std::pow(2, std::min(times, 10)));
}

// Whether a response that runs in the background may still be had after such a failure.
bool MayPass(ErrorClass failure) {
  switch (failure) {
    case ErrorClass::kConnect:
    case ErrorClass::kFirstByteTimeout:
    case ErrorClass::kIdleTimeout:
    case ErrorClass::kCut:
    case ErrorClass::kRateLimited:
    case ErrorClass::kServer:
    case ErrorClass::kOverloaded:
    case ErrorClass::kMalformedReply:
      return true;
    default:
      return false;
  }
}

}  // namespace

void ResponsesReply::TakeObject(ReplyNode object) {
  std::string type = object.TextAt("type");
  if (type == "error" || type.rfind("response.", 0) == 0) {
    if (object.HasCountAt("sequence_number")) {
      const int64_t sequence = object.CountAt("sequence_number");
      if (sequence <= sequence_) return;  // seen before the cut
      sequence_ = sequence;
    }
    progress_ = true;
    TakeEvent(type, object);
  } else if (object["status"].present()) {
    TakeResponse(object);
  } else if (const ReplyNode error = object["error"]; error.present() && !error.is_null()) {
    FailBy(ReadErrorEvent(object.ToJson()));
  }
}

void ResponsesReply::TakeEvent(const std::string& type, ReplyNode event) {
  if (type == "error") {
    FailBy(ReadErrorEvent(event.ToJson()));
  } else if (type == "response.output_text.delta") {
    AppendText(event.TextAt("delta"));
  } else if (type == "response.refusal.delta") {
    AppendRefusal(event.TextAt("delta"));
  } else if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
    AppendReasoning(event.TextAt("delta"));
  } else if (event["response"].present()) {
    TakeResponse(event["response"]);
  }
}

// Only what can stand in a path.
void ResponsesReply::TakeId(ReplyNode response) {
  std::string id = response.TextAt("id");
  const bool plain = !id.empty() && id.size() <= 200 && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (plain && id_.empty()) id_ = std::move(id);
}

void ResponsesReply::TakeResponse(ReplyNode response) {
  TakeId(response);
  const std::string status = response.TextAt("status");
  if (status == "queued" || status == "in_progress") {
    progress_ = true;
    return;
  }
  final_ = true;
  TakeUsage(response["usage"]);
  if (status == "completed") {
    TakeOutput(response);
    End("stop");
  } else if (status == "incomplete") {
    TakeOutput(response);
    std::string reason = response["incomplete_details"].TextAt("reason");
    if (reason == "max_output_tokens" || reason == "max_tokens") {
      End("length");
    } else if (reason == "content_filter") {
      End("refusal");
    } else {
      Fail(ErrorClass::kMalformedReply,
           fmt::format("the answer is incomplete: {}",
                       OneLine(ValidText(reason.empty() ? "no reason given" : reason), 100)));
    }
  } else if (status == "failed") {
    FailBy(ReadErrorEvent(response.ToJson()));
  } else {
    Fail(ErrorClass::kServer, fmt::format("the answer ended with status \"{}\"", OneLine(ValidText(status), 60)));
  }
}

// The whole text stands in the response: what was streamed of it, perhaps with a gap, is replaced.
void ResponsesReply::TakeOutput(ReplyNode response) {
  std::string text, reasoning, refusal;
  for (const ReplyNode item : response["output"].items()) {
    for (const ReplyNode part : item["summary"].items()) reasoning += part.TextAt("text");
    for (const ReplyNode part : item["content"].items()) {
      const std::string type = part.TextAt("type");
      if (type == "output_text") text += part.TextAt("text");
      if (type == "refusal") refusal += part.TextAt("refusal");
      if (type == "reasoning_text") reasoning += part.TextAt("text");
    }
  }
  if (!text.empty()) ReplaceText(text);
  if (completion_.reasoning.empty()) AppendReasoning(reasoning);
  if (!refusal.empty()) ReplaceRefusal(refusal);
}

// Cached tokens and those written to a cache are a part of the input's, reasoning is a part of the output's.
void ResponsesReply::TakeUsage(ReplyNode usage) {
  if (usage.empty()) return;
  const ReplyNode details = usage["input_tokens_details"];
  const int64_t output = usage.CountAt("output_tokens");
  TokenUsage counted;
  counted.input = usage.CountAt("input_tokens");
  counted.cached_input = std::min(counted.input, details.CountAt("cached_tokens"));
  counted.cache_write_5m = std::min(counted.input - counted.cached_input, details.CountAt("cache_write_tokens"));
  counted.reasoning = std::min(output, usage["output_tokens_details"].CountAt("reasoning_tokens"));
  counted.output = output - counted.reasoning;
  completion_.usage = counted;
}

void ResponsesReply::Settle() {
  if (!final_ && polling_) Fail(ErrorClass::kCut, "the answer is still being worked on in the background");
}

std::optional<Continuation> ResponsesReply::Continue(ErrorClass failure) {
  if (!background_ || id_.empty() || final_) return std::nullopt;
  const bool refused = failure == ErrorClass::kNotFound || failure == ErrorClass::kInvalidRequest;
  if (!MayPass(failure) && !(refused && resuming_)) return std::nullopt;
  fruitless_ = progress_ ? 0 : fruitless_ + 1;
  if (fruitless_ > kMostFruitless) return std::nullopt;
  if (refused || sequence_ < 0 || (resuming_ && !progress_)) polling_ = true;
  // A stream that broke off is read on at once; a poll, and what brought nothing, waits.
  const double wait = polling_ ? Backoff(polls_) : fruitless_ == 0 ? 0 : Backoff(fruitless_ - 1);
  if (polling_) ++polls_;
  resuming_ = !polling_;
  progress_ = false;
  ForgetFailure();
  std::string path = "/responses/" + id_;
  if (!polling_) path += fmt::format("?stream=true&starting_after={}", sequence_);
  return Continuation{{"GET", std::move(path), {}, ""}, FromSeconds(wait)};
}

std::optional<HttpRequestParts> ResponsesReply::Abandon() const {
  if (!background_ || id_.empty() || final_) return std::nullopt;
  return HttpRequestParts{"POST", "/responses/" + id_ + "/cancel", {}, ""};
}

}  // namespace warpsmith::gateway
