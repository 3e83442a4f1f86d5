#include "llm_gateway/providers/openai_compatible.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm_gateway/providers/chat_reply.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxErrorBody = 64u << 10;

}  // namespace

OpenAiCompatible::OpenAiCompatible(ModelConfig config, Secret key, HttpTransport& transport, Clock& clock,
                                   std::function<double()> random)
    : config_(std::move(config)),
      key_(std::move(key)),
      transport_(transport),
      clock_(clock),
      random_(std::move(random)) {}

std::string OpenAiCompatible::Body(const PromptRequest& request) const {
  Json body = config_.extra_body;
  body["model"] = config_.model;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  Json messages = Json::array();
  for (const PromptMessage& message : request.messages) {
    messages.push_back({{"role", message.role}, {"content", message.text}});
  }
  body["messages"] = std::move(messages);
  int64_t tokens = request.max_output_tokens > 0 ? request.max_output_tokens : config_.max_output_tokens;
  if (request.max_output_tokens > 0 && config_.max_output_tokens > 0) {
    tokens = std::min(request.max_output_tokens, config_.max_output_tokens);
  }
  if (tokens > 0) body[config_.max_tokens_field] = tokens;
  if (config_.temperature) body["temperature"] = *config_.temperature;
  if (!config_.reasoning_effort.empty()) body["reasoning_effort"] = config_.reasoning_effort;
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Completion OpenAiCompatible::Complete(const PromptRequest& request, const DeltaCallback& on_delta,
                                      Cancellation& cancellation) {
  RetryPolicy policy;
  policy.max_tries = config_.tries;
  policy.total = FromSeconds(config_.total_seconds);
  const std::string body = Body(request);
  const TimePoint started = clock_.Now();
  Completion completion;
  for (int tries = 1;; ++tries) {
    RetryHints hints;
    completion = Try(body, policy.total - (clock_.Now() - started), on_delta, cancellation, hints);
    completion.tries = tries;
    if (completion.ok()) break;
    if (cancellation.cancelled()) completion.error = ErrorClass::kCancelled;
    RetryDecision decision = DecideRetry(policy, completion.error, tries, clock_.Now() - started, hints, random_());
    if (!decision.retry) {
      if (tries > 1) completion.message += fmt::format(" ({} tries; {})", tries, decision.reason);
      break;
    }
    if (!WaitOrCancelled(decision.wait, cancellation)) {
      completion.error = ErrorClass::kCancelled;
      break;
    }
    if (on_delta) on_delta(DeltaKind::kRestart, "");
  }
  completion.seconds = ToSeconds(clock_.Now() - started);
  if (!completion.ok()) completion.finish_reason = "error";
  return completion;
}

// In slices, so that a cancellation is seen soon whatever clock it is.
bool OpenAiCompatible::WaitOrCancelled(Duration wait, Cancellation& cancellation) const {
  const TimePoint until = clock_.Now() + wait;
  while (clock_.Now() < until) {
    if (cancellation.cancelled()) return false;
    clock_.SleepFor(std::min<Duration>(until - clock_.Now(), std::chrono::milliseconds(20)));
  }
  return !cancellation.cancelled();
}

Completion OpenAiCompatible::Try(const std::string& body, Duration left, const DeltaCallback& on_delta,
                                 Cancellation& cancellation, RetryHints& hints) const {
  HttpRequest request;
  request.url = config_.base_url + "/chat/completions";
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}};
  if (!key_.empty()) request.headers.emplace_back("Authorization", "Bearer " + key_.Reveal());
  request.body = body;
  request.deadlines = {FromSeconds(config_.connect_seconds), FromSeconds(config_.first_byte_seconds),
                       FromSeconds(config_.idle_seconds), std::max<Duration>(left, std::chrono::milliseconds(1))};
  request.max_response_bytes = static_cast<size_t>(config_.max_response_bytes);
  request.ca_file = config_.ca_file;
  request.proxy_from_environment = config_.proxy_from_environment;

  ChatReply reply(on_delta);
  int status = 0;
  std::string error_body;
  HttpResult result = SendAndWait(
      transport_, std::move(request),
      [&](int received, const HttpHeaders& headers) {
        status = received;
        reply.OnHeaders(received, headers);
      },
      [&](std::string_view data) {
        if (status == 200) return reply.OnData(data);
        error_body.append(data.substr(0, kMaxErrorBody - std::min(kMaxErrorBody, error_body.size())));
        return error_body.size() < kMaxErrorBody;
      },
      cancellation);

  hints = ParseRetryHints(result.headers, clock_.WallMicros());
  Completion completion;
  // A status that is an error says more than how its body ended.
  if (status != 0 && status != 200 && result.error != HttpError::kCancelled) {
    completion.error = ChatReply::ClassOf(status, error_body, completion.message);
  } else if (result.error == HttpError::kNone || result.error == HttpError::kAborted) {
    completion = reply.Finish();
  } else {
    completion = reply.Finish();  // the tokens that were reported count, even if the answer does not
    TokenUsage usage = completion.usage;
    completion = OfTransportError(result);
    completion.usage = usage;
  }
  completion.first_byte_seconds = result.first_byte_seconds;
  completion.text = key_.Redact(std::move(completion.text));
  completion.reasoning = key_.Redact(std::move(completion.reasoning));
  if (!completion.ok()) completion.message = key_.Redact(Explain(completion.error, completion.message));
  return completion;
}

Completion OpenAiCompatible::OfTransportError(const HttpResult& result) const {
  Completion completion;
  switch (result.error) {
    case HttpError::kConnect:
    case HttpError::kConnectTimeout:
      completion.error = ErrorClass::kConnect;
      break;
    case HttpError::kTls:
      completion.error = ErrorClass::kTls;
      break;
    case HttpError::kFirstByteTimeout:
      completion.error = ErrorClass::kFirstByteTimeout;
      break;
    case HttpError::kIdleTimeout:
      completion.error = ErrorClass::kIdleTimeout;
      break;
    case HttpError::kTotalTimeout:
      completion.error = ErrorClass::kTotalTimeout;
      break;
    case HttpError::kCut:
      completion.error = ErrorClass::kCut;
      break;
    case HttpError::kTooLarge:
      completion.error = ErrorClass::kTooLarge;
      break;
    case HttpError::kCancelled:
      completion.error = ErrorClass::kCancelled;
      break;
    default:
      completion.error = ErrorClass::kMalformedReply;
  }
  completion.message = ValidText(result.message);
  return completion;
}

std::string OpenAiCompatible::Explain(ErrorClass error, const std::string& message) const {
  std::string text = fmt::format("{}: {}: {}", config_.name, config_.base_url, message);
  auto field = [this](const char* name) { return fmt::format("{}.{}", config_.place, name); };
  switch (error) {
    case ErrorClass::kAuthentication: {
      std::string source = KeySource(config_);
      if (source.empty()) return text + "; no key is configured: set " + field("api_key_env") + " or api_key_file";
      return text + "; check the key in " + source;
    }
    case ErrorClass::kConnect:
    case ErrorClass::kTls:
    case ErrorClass::kRedirect:
      return text + "; check " + field("base_url") + (error == ErrorClass::kTls ? " and ca_file" : "") +
             (error == ErrorClass::kRedirect ? " (redirects are not followed)" : "");
    case ErrorClass::kNotFound:
      return text + "; check " + field("model") + " and base_url";
    case ErrorClass::kFirstByteTimeout:
      return text + "; " + field("first_byte_seconds") + " sets this";
    case ErrorClass::kIdleTimeout:
      return text + "; " + field("idle_seconds") + " sets this";
    case ErrorClass::kTotalTimeout:
      return text + "; " + field("total_seconds") + " sets this";
    case ErrorClass::kTooLarge:
      return text + "; " + field("max_response_bytes") + " sets the cap of the whole answer";
    case ErrorClass::kQuota:
      return text + "; the account's quota is used up: more tries would not help";
    default:
      return text;
  }
}

}  // namespace warpsmith::gateway
