#include "llm_gateway/providers/http_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "llm_gateway/async/wait_point.h"
#include "llm_gateway/providers/error_body.h"
#include "llm_gateway/replies/text.h"
#include "llm_gateway/retry/rate_headers.h"

namespace warpsmith::gateway {
namespace {

constexpr Duration kAbandonDeadline = std::chrono::seconds(2);

ErrorClass ClassOf(HttpError error) {
  switch (error) {
    case HttpError::kConnect:
    case HttpError::kConnectTimeout:
      return ErrorClass::kConnect;
    case HttpError::kTls:
      return ErrorClass::kTls;
    case HttpError::kFirstByteTimeout:
      return ErrorClass::kFirstByteTimeout;
    case HttpError::kIdleTimeout:
      return ErrorClass::kIdleTimeout;
    case HttpError::kTotalTimeout:
      return ErrorClass::kTotalTimeout;
    case HttpError::kCut:
      return ErrorClass::kCut;
    case HttpError::kTooLarge:
      return ErrorClass::kTooLarge;
    case HttpError::kCancelled:
      return ErrorClass::kCancelled;
    default:
      return ErrorClass::kMalformedReply;
  }
}

void Add(TokenUsage& to, const TokenUsage& more) {
  to.input += more.input;
  to.cached_input += more.cached_input;
  to.cache_write_5m += more.cache_write_5m;
  to.cache_write_1h += more.cache_write_1h;
  to.output += more.output;
  to.reasoning += more.reasoning;
}

bool SaysNothing(const TokenUsage& usage) { return usage.input == 0 && usage.output == 0 && usage.reasoning == 0; }

bool SaysNothing(const ServerLimits& limits) {
  return limits.limit_requests < 0 && limits.limit_tokens < 0 && limits.remaining_requests < 0 &&
         limits.remaining_tokens < 0;
}

// Where the connection may be what stalled or broke, another one is made.
bool BlamesConnection(ErrorClass error) {
  return error == ErrorClass::kFirstByteTimeout || error == ErrorClass::kIdleTimeout || error == ErrorClass::kCut;
}

}  // namespace

struct HttpModel::Call {
  HttpRequestParts parts;                   // without its body
  std::shared_ptr<const std::string> body;  // the same for all tries
  Secret key;
  TimePoint started;
  bool fresh_connection = false;
  DeltaCallback on_delta;
  Cancellation& cancellation;
};

struct HttpModel::Outcome {
  Completion completion;
  RetryHints hints;
  // The server may have worked on it, and bill that.
  bool sent = false;
};

HttpModel::HttpModel(ModelConfig config, std::unique_ptr<WireFormat> format, KeySource key, HttpTransport& transport,
                     Clock& clock, std::function<double()> random)
    : config_(std::move(config)),
      format_(std::move(format)),
      key_(std::move(key)),
      transport_(transport),
      clock_(clock),
      random_(std::move(random)) {
  policy_.max_tries = config_.tries;
  policy_.total = FromSeconds(config_.total_seconds);
}

Completion HttpModel::Complete(const PromptRequest& request, const DeltaCallback& on_delta,
                               Cancellation& cancellation) {
  const TimePoint started = clock_.Now();
  absl::StatusOr<Secret> key = key_();
  if (!key.ok()) {
    Completion completion;
    completion.error = ErrorClass::kConfiguration;
    completion.message = fmt::format("{}: {}", config_.name, Message(key.status()));
    completion.finish_reason = "error";
    completion.effort = EffortOf(request, config_);
    return completion;
  }
  HttpRequestParts parts = format_->Build(request, config_);
  auto body = std::make_shared<const std::string>(std::exchange(parts.body, {}));
  Call call{std::move(parts), std::move(body), *std::move(key), started, false, nullptr, cancellation};
  if (on_delta) {
    call.on_delta = [&](DeltaKind kind, std::string_view piece) {
      call.key.empty() ? on_delta(kind, piece) : on_delta(kind, call.key.Redact(std::string(piece)));
    };
  }
  TokenUsage usage;
  ServerLimits limits;
  int unreported = 0;
  std::vector<ErrorClass> retried;
  Completion completion;
  for (int tries = 1;; ++tries) {
    Outcome outcome = Try(call);
    completion = std::move(outcome.completion);
    completion.tries = tries;
    Add(usage, completion.usage);
    if (!SaysNothing(completion.server_limits)) limits = completion.server_limits;
    std::optional<Duration> asked = AskedWait(policy_, outcome.hints);
    if (asked) completion.retry_after_seconds = ToSeconds(*asked);
    if (completion.ok()) break;
    if (cancellation.cancelled()) completion.error = ErrorClass::kCancelled;
    const bool too_many = completion.error == ErrorClass::kRateLimited || completion.error == ErrorClass::kOverloaded;
    if (asked && too_many && request.on_asked_to_wait) request.on_asked_to_wait(*asked);
    RetryDecision decision =
        DecideRetry(policy_, completion.error, tries, clock_.Now() - started, outcome.hints, random_());
    if (!decision.retry) {
      if (tries > 1) completion.message += fmt::format(" ({} tries; {})", tries, decision.reason);
      break;
    }
    if (!WaitOrCancelled(decision.wait, cancellation)) {
      completion.error = ErrorClass::kCancelled;
      break;
    }
    if (outcome.sent && SaysNothing(completion.usage)) ++unreported;
    retried.push_back(completion.error);
    call.fresh_connection = BlamesConnection(completion.error);
    if (on_delta) on_delta(DeltaKind::kRestart, "");
  }
  completion.usage = usage;
  completion.server_limits = limits;
  completion.unreported_tries = unreported;
  completion.retried = std::move(retried);
  completion.effort = EffortOf(request, config_);
  completion.seconds = ToSeconds(clock_.Now() - started);
  if (!completion.ok()) completion.finish_reason = "error";
  return completion;
}

Duration HttpModel::Left(const Call& call) const {
  return std::max<Duration>(policy_.total - (clock_.Now() - call.started), std::chrono::milliseconds(1));
}

// In slices, so that a cancellation is seen soon whatever clock it is; a fiber is woken by it.
bool HttpModel::WaitOrCancelled(Duration wait, Cancellation& cancellation) const {
  if (OnFiber()) {
    WaitPoint cancelled;
    auto subscription = cancellation.Subscribe([&cancelled] { cancelled.Notify(); });
    return !cancelled.WaitUntil(RealClock().Now() + wait) && !cancellation.cancelled();
  }
  const TimePoint until = clock_.Now() + wait;
  while (clock_.Now() < until) {
    if (cancellation.cancelled()) return false;
    clock_.SleepFor(std::min<Duration>(until - clock_.Now(), std::chrono::milliseconds(20)));
  }
  return !cancellation.cancelled();
}

HttpModel::Outcome HttpModel::Try(const Call& call) const {
  std::unique_ptr<ReplyReader> reader = format_->NewReader(call.on_delta);
  Outcome outcome = Exchange(call, call.parts, call.fresh_connection, *reader);
  const double first_byte = outcome.completion.first_byte_seconds;
  bool continued = false;
  while (!outcome.completion.ok() && !call.cancellation.cancelled()) {
    const ErrorClass failure = outcome.completion.error;
    std::optional<Continuation> next = reader->Continue(failure);
    if (!next) {
      // Not the call was wrong: what it began has gone.
      if (continued && (failure == ErrorClass::kNotFound || failure == ErrorClass::kInvalidRequest)) {
        outcome.completion.error = ErrorClass::kCut;
        outcome.completion.message = "the answer that ran in the background is gone: " + outcome.completion.message;
      }
      break;
    }
    continued = true;
    // The server may ask for more patience than the reader has.
    const Duration wait = std::max(next->wait, AskedWait(policy_, outcome.hints).value_or(Duration()));
    if (wait >= Left(call)) {
      outcome.completion.error = ErrorClass::kTotalTimeout;
      outcome.completion.message =
          fmt::format("the answer had not ended within {:g} s: {}", config_.total_seconds, outcome.completion.message);
      break;
    }
    if (!WaitOrCancelled(wait, call.cancellation)) break;
    outcome = Exchange(call, next->request, BlamesConnection(failure), *reader);
    outcome.sent = true;
  }
  Completion& completion = outcome.completion;
  completion.first_byte_seconds = first_byte;
  if (!completion.ok()) {
    if (std::optional<HttpRequestParts> parts = reader->Abandon()) Abandon(call, *parts);
    completion.message = Explain(completion.error, completion.message);
  }
  completion.text = call.key.Redact(std::move(completion.text));
  completion.reasoning = call.key.Redact(std::move(completion.reasoning));
  completion.message = call.key.Redact(std::move(completion.message));
  return outcome;
}

HttpRequest HttpModel::RequestOf(const Call& call, const HttpRequestParts& parts) const {
  HttpRequest request;
  request.method = parts.method;
  request.url = config_.base_url + parts.path;
  request.headers = parts.headers;
  request.headers.emplace_back("Accept", "text/event-stream, application/json");
  if (&parts == &call.parts) {
    request.shared_body = call.body;
  } else {
    request.body = parts.body;
  }
  const bool has_body = !request.body.empty() || (request.shared_body != nullptr && !request.shared_body->empty());
  if (has_body) request.headers.emplace_back("Content-Type", "application/json");
  if (!call.key.empty()) request.headers.push_back(format_->KeyHeader(call.key));
  request.deadlines = {FromSeconds(config_.connect_seconds), FromSeconds(config_.first_byte_seconds),
                       FromSeconds(config_.idle_seconds), Left(call)};
  request.max_response_bytes = static_cast<size_t>(config_.max_response_bytes);
  request.ca_file = config_.ca_file;
  request.proxy_from_environment = config_.proxy_from_environment;
  return request;
}

HttpModel::Outcome HttpModel::Exchange(const Call& call, const HttpRequestParts& parts, bool fresh_connection,
                                       ReplyReader& reader) const {
  HttpRequest request = RequestOf(call, parts);
  request.fresh_connection = fresh_connection;
  ExchangeResult exchange = RunExchange(transport_, std::move(request), reader, call.cancellation);
  const HttpResult& http = exchange.http;

  Outcome outcome;
  Completion& completion = outcome.completion;
  outcome.hints = ParseRetryHints(http.status, http.headers, clock_.WallMicros());
  // A status that is an error says more than how its body ended.
  if (http.status != 0 && !exchange.Succeeded() && http.error != HttpError::kCancelled) {
    ServerError error = ReadErrorAnswer(http.status, http.headers, exchange.error_body);
    completion.error = error.error;
    completion.message = std::move(error.message);
    if (error.refused) {
      completion.finish_reason = "refusal";
      completion.text = std::move(completion.message);
      completion.message.clear();
    }
    if (!outcome.hints.retry_after) outcome.hints.retry_after = error.retry_after;
  } else {
    completion = reader.Finish();
    if (http.error != HttpError::kNone && http.error != HttpError::kAborted) {
      completion.error = ClassOf(http.error);
      completion.message = ValidText(http.message);
      completion.text.clear();
    }
    if (completion.retry_after_seconds >= 0) outcome.hints.retry_after = FromSeconds(completion.retry_after_seconds);
    outcome.sent = completion.error != ErrorClass::kConnect && completion.error != ErrorClass::kTls;
    // Counts on the way are less than what is billed.
    if (!completion.ok() && !reader.ended()) completion.usage = {};
  }
  completion.first_byte_seconds = http.first_byte_seconds;
  completion.server_limits = ParseServerLimits(http.headers);
  return outcome;
}

void HttpModel::Abandon(const Call& call, const HttpRequestParts& parts) const {
  HttpRequest request = RequestOf(call, parts);
  request.deadlines = {kAbandonDeadline, kAbandonDeadline, kAbandonDeadline, kAbandonDeadline};
  Cancellation none;  // the call's own one has been used
  SendAndWait(
      transport_, std::move(request), [](int, const HttpHeaders&) {}, [](std::string_view) { return true; }, none);
}

std::string HttpModel::Explain(ErrorClass error, const std::string& message) const {
  std::string text = fmt::format("{}: {}: {}", config_.name, config_.base_url, message);
  auto field = [this](const char* name) { return fmt::format("{}.{}", config_.place, name); };
  switch (error) {
    case ErrorClass::kAuthentication: {
      std::string source = gateway::KeySource(config_);
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
    case ErrorClass::kContextLength:
      return text + "; " + field("fallback_context") + " may name models with more room";
    case ErrorClass::kRateLimited:
      return text + "; " + field("requests_per_minute") + " and tokens_per_minute keep below the provider's limits";
    case ErrorClass::kQuota:
      return text + "; the account's quota is used up: more tries would not help";
    default:
      return text;
  }
}

}  // namespace warpsmith::gateway
