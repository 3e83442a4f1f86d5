#include "llm_gateway/limits/guarded_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "llm_gateway/limits/call_rules.h"
#include "llm_gateway/limits/price_table.h"
#include "llm_gateway/limits/token_count.h"

namespace warpsmith::gateway {
namespace {

constexpr Duration kBudgetPoll =
    std::chrono::milliseconds(50);  // how soon a cancellation is seen while waiting for money

std::string Label(const ModelConfig& config) {
  return config.place.empty() ? fmt::format("model \"{}\"", config.name)
                              : fmt::format("model \"{}\" ({})", config.name, config.place);
}

// A call that was not sent.
Completion NotSent(const ModelConfig& config, ErrorClass error, std::string_view what) {
  Completion completion;
  completion.error = error;
  completion.finish_reason = "error";
  completion.message = fmt::format("{}: {}", Label(config), what);
  return completion;
}

bool WasSent(const Completion& completion) { return completion.ok() || completion.tries > 0; }

}  // namespace

struct GuardedModel::Call {
  const GuardedEndpoint& endpoint;
  PromptRequest request;  // as it will be sent, but for the cap
  const DeltaCallback& on_delta;
  Cancellation& cancellation;
  TimePoint deadline;
  int64_t input_tokens = 0;  // estimated, more rather than less
  bool may_write_cache = false;
  int64_t cap = 0;        // on the answer; 0: none said
  int64_t least_cap = 0;  // below it the call is not worth making
  bool restart = false;   // text of an earlier call has been passed on and is void

  const ModelConfig& config() const { return endpoint.config; }
  const std::string& effort() const { return request.effort.empty() ? config().reasoning_effort : request.effort; }
  int64_t RoomOf(int64_t a_cap) const { return a_cap > 0 ? a_cap : kAssumedOutputTokens; }
  double CostAt(int64_t room) const {
    return endpoint.price ? MostCost(*endpoint.price, input_tokens, room, may_write_cache) : 0;
  }
  void SetRoom(int64_t a_cap, int64_t a_least) {
    cap = a_cap;
    least_cap = a_least;
  }
};

struct GuardedModel::Held {
  std::optional<CallBudget::Reservation> request, day;
  int64_t room = 0;
  double usd = 0;
  int64_t tokens = 0;
};

GuardedModel::GuardedModel(std::string name, Find find, CallBudget* day, Clock& clock)
    : name_(std::move(name)), find_(std::move(find)), day_(day), clock_(clock) {}

Completion GuardedModel::Complete(const PromptRequest& request, const DeltaCallback& on_delta,
                                  Cancellation& cancellation) {
  const GuardedEndpoint* first = find_(name_);
  if (first == nullptr || first->model == nullptr) {
    ModelConfig unknown;
    unknown.name = name_;
    return NotSent(first == nullptr ? unknown : first->config, ErrorClass::kConfiguration,
                   "is not usable; check it with warpsmith gateway check");
  }
  const TimePoint deadline = first->config.total_seconds > 0 ? clock_.Now() + FromSeconds(first->config.total_seconds)
                                                             : clock_.Now() + std::chrono::hours(24 * 365);
  const int64_t input_tokens = EstimatePromptTokens(request);
  const bool may_write_cache = std::any_of(request.messages.begin(), request.messages.end(),
                                           [](const PromptMessage& message) { return message.cacheable; });
  std::vector<std::string> asked = {name_};
  std::vector<Completion> earlier;
  const GuardedEndpoint* endpoint = first;
  Completion completion;
  while (true) {
    Call call{*endpoint, request, on_delta, cancellation, deadline, input_tokens, may_write_cache};
    // Another model's efforts have other names; what it does not know would be refused as a mistake.
    if (endpoint != first && !KnowsEffort(endpoint->config, request.effort)) call.request.effort.clear();
    call.restart = !earlier.empty();
    completion = AskWithRoom(call, earlier);
    if (cancellation.cancelled() || clock_.Now() >= deadline) break;
    const GuardedEndpoint* next = NextFallback(first->config, completion, asked);
    if (next == nullptr) break;
    earlier.push_back(std::move(completion));
    endpoint = next;
  }
  if (!completion.ok() && completion.model != name_ && !earlier.empty()) {
    completion.message +=
        fmt::format("; before that, {}",
                    earlier.front().ok() ? fmt::format("model \"{}\" refused", name_) : earlier.front().message);
  }
  completion.earlier = std::move(earlier);
  return completion;
}

const GuardedEndpoint* GuardedModel::NextFallback(const ModelConfig& config, const Completion& outcome,
                                                  std::vector<std::string>& asked) const {
  for (const std::string& name : FallbacksFor(config, ReasonOf(outcome))) {
    if (std::find(asked.begin(), asked.end(), name) != asked.end()) continue;
    asked.push_back(name);
    const GuardedEndpoint* endpoint = find_(name);
    if (endpoint != nullptr && endpoint->model != nullptr && endpoint->config.enabled) return endpoint;
  }
  return nullptr;
}

// The answer, asked for once more where it broke off. Half an answer is never better than a whole one, but better than
// none: it stays where the second call could not be made.
Completion GuardedModel::AskWithRoom(Call& call, std::vector<Completion>& earlier) {
  const int64_t asked = call.request.max_output_tokens;
  int64_t cap = OutputCap(call.config(), asked);
  call.SetRoom(cap, LeastOutput(call.config(), call.RoomOf(cap)));
  Completion half = Ask(call, earlier);
  if (!IsTruncated(half) || call.cancellation.cancelled() || clock_.Now() >= call.deadline) return half;

  const int64_t had = call.request.max_output_tokens;  // as sent
  const int64_t most = MostOutput(call.config(), asked);
  std::string lower = LowerEffort(call.config(), call.effort());
  call.restart = true;
  std::vector<Completion> before = std::move(earlier);
  earlier.clear();
  Completion whole;
  bool sent = false;
  if (most > had) {
    call.SetRoom(most, std::min(most, had + std::max<int64_t>((most - had) / 4, 1)));
    whole = Ask(call, earlier);
    sent = WasSent(whole);
  }
  if (!sent && !lower.empty() && !call.cancellation.cancelled()) {
    call.request.effort = lower;
    call.SetRoom(had, had);
    whole = Ask(call, earlier);
    sent = WasSent(whole);
  }
  if (sent) {
    before.push_back(std::move(half));
  } else {
    whole = std::move(half);  // what there is
  }
  before.insert(before.end(), std::make_move_iterator(earlier.begin()), std::make_move_iterator(earlier.end()));
  earlier = std::move(before);
  return whole;
}

Completion GuardedModel::Ask(Call& call, std::vector<Completion>& earlier) {
  const ModelConfig& config = call.config();
  const GuardedEndpoint& endpoint = call.endpoint;
  auto named = [&](Completion completion) {
    completion.model = config.name;
    completion.effort = call.effort();
    completion.price_id = endpoint.price ? endpoint.price_id : "";
    return completion;
  };
  if (call.cancellation.cancelled()) return named(NotSent(config, ErrorClass::kCancelled, "cancelled"));
  if (endpoint.circuit != nullptr) {
    std::string why = endpoint.circuit->WhyNot();
    if (!why.empty()) return named(NotSent(config, ErrorClass::kCircuitOpen, "is not asked now: " + why));
  }
  Held held;
  if (std::optional<Completion> refusal = Reserve(call, held)) return named(std::move(*refusal));
  auto give_back = [&] {
    if (held.request) call.request.budget->Release(std::move(*held.request));
    if (held.day) day_->Release(std::move(*held.day));
  };
  std::optional<RateLimiter::Ticket> ticket;
  if (endpoint.limiter != nullptr) {
    auto admission = endpoint.limiter->Acquire(held.tokens, call.deadline - clock_.Now(), call.cancellation);
    if (!admission.limit.empty()) endpoint.observer->OnLimitWait(config.name, admission.limit, admission.waited);
    if (!admission.ticket) {
      give_back();
      return named(NotSent(config, admission.error, admission.message));
    }
    ticket.emplace(std::move(*admission.ticket));
  }
  // Asked again: many may have waited for their turn while the model fell ill, and one alone may find out.
  std::optional<CircuitBreaker::Permit> permit;
  if (endpoint.circuit != nullptr) {
    if (auto given = endpoint.circuit->Ask()) {
      permit.emplace(std::move(*given));
    } else {
      std::string why = endpoint.circuit->WhyNot();
      if (ticket) endpoint.limiter->Report(std::move(*ticket), 0, 0);
      give_back();
      return named(NotSent(config, ErrorClass::kCircuitOpen, "is not asked now: " + why));
    }
  }

  call.request.on_asked_to_wait = [&](Duration wait) {
    if (endpoint.limiter != nullptr) endpoint.limiter->Pause(wait);
  };
  if (call.restart && call.on_delta) call.on_delta(DeltaKind::kRestart, "");
  Completion completion = endpoint.model->Complete(call.request, call.on_delta, call.cancellation);
  call.request.on_asked_to_wait = nullptr;
  for (const ErrorClass error : completion.retried) endpoint.observer->OnRetry(config.name, error);
  completion = named(std::move(completion));

  if (permit) endpoint.circuit->Report(std::move(*permit), completion.error);
  const bool busy = completion.error == ErrorClass::kRateLimited || completion.error == ErrorClass::kOverloaded;
  if (busy && endpoint.limiter != nullptr && completion.retry_after_seconds > 0) {
    endpoint.limiter->Pause(FromSeconds(std::min(completion.retry_after_seconds, 1e6)));
  }
  int64_t tokens = Charge(call, held, completion, earlier);
  if (ticket) {
    int requests = WasSent(completion) ? std::max(completion.tries, 1) : 0;
    endpoint.limiter->Report(std::move(*ticket), tokens, requests);
  }
  return completion;
}

// Sets aside what the call may take in all budgets it is under, with a smaller cap where only that fits. Waits for
// calls in flight where they may leave enough. The refusal, or none and `held`; call.request then has its cap.
std::optional<Completion> GuardedModel::Reserve(Call& call, Held& held) {
  const ModelConfig& config = call.config();
  CallBudget* budgets[] = {call.request.budget, day_};
  bool limited = false;
  for (CallBudget* budget : budgets) {
    if (budget == nullptr) continue;
    if (budget->limits_usd() && !call.endpoint.price) {
      call.endpoint.observer->OnBudgetRefusal(budget == day_);
      return NotSent(
          config, ErrorClass::kBudget,
          fmt::format("has no price, and {} limits dollars: what the call costs is not known. Give the model a "
                      "price or a price_name in gateway.yaml (price: {{input: 0, output: 0}} for a server of "
                      "your own)",
                      budget == day_ ? "max_usd_per_day" : "max_usd"));
    }
    limited = limited || budget->limits_tokens() || (budget->limits_usd() && call.CostAt(1'000'000) > 0);
  }
  const int64_t whole = call.RoomOf(call.cap);
  std::vector<int64_t> rooms = {whole};
  for (int64_t quarters : {3, 2, 1}) {
    int64_t room = std::max(whole * quarters / 4, call.least_cap);
    if (room < rooms.back()) rooms.push_back(room);
  }
  while (true) {
    CallBudget* refusing = nullptr;
    CallBudget::State state;
    for (int64_t room : rooms) {
      held = Held();
      held.room = room;
      held.usd = call.CostAt(room);
      held.tokens = call.input_tokens + room;
      refusing = nullptr;
      for (CallBudget* budget : budgets) {
        if (budget == nullptr) continue;
        state = budget->state();  // before, so that no settlement after it is missed
        auto reservation = budget->Reserve(held.usd, held.tokens);
        if (!reservation) {
          refusing = budget;
          break;
        }
        (budget == day_ ? held.day : held.request).emplace(std::move(*reservation));
      }
      if (refusing == nullptr) {
        call.request.max_output_tokens = call.cap > 0 || limited ? room : 0;
        return std::nullopt;
      }
      if (held.request) call.request.budget->Release(std::move(*held.request));
    }
    if (call.cancellation.cancelled()) return NotSent(config, ErrorClass::kCancelled, "cancelled");
    if (!refusing->MayFitLater(held.usd, held.tokens) || clock_.Now() >= call.deadline) {
      call.endpoint.observer->OnBudgetRefusal(refusing == day_);
      const char* field = refusing == day_ ? "max_usd_per_day of gateway.yaml" : "the caller's limit";
      std::string money = refusing->limits_usd() ? fmt::format("up to ${:.4f} where ${:.4f} of ${:g} are left",
                                                               held.usd, refusing->usd_left(), state.max_usd)
                                                 : "";
      std::string tokens = refusing->limits_tokens()
                               ? fmt::format("{}up to {} tokens where {} of {} are left", money.empty() ? "" : " and ",
                                             held.tokens, refusing->tokens_left(), state.max_tokens)
                               : "";
      return NotSent(
          config, ErrorClass::kBudget,
          fmt::format("the call does not fit into {}: it may take {}{} (about {} tokens in, at least {} out); "
                      "raise that limit or lower max_output_tokens",
                      field, money, tokens, call.input_tokens, held.room));
    }
    refusing->AwaitSettlement(state.settlements, kBudgetPoll);
  }
}

// Puts the price on what was taken and settles it. What may have been billed without being reported is charged as
// reserved. All tokens that were charged.
int64_t GuardedModel::Charge(const Call& call, Held& held, Completion& completion, std::vector<Completion>& earlier) {
  TokenUsage reserved;
  reserved.input = call.input_tokens;
  reserved.output = held.room;
  const GuardedEndpoint& endpoint = call.endpoint;
  completion.usd = endpoint.price ? CostOf(*endpoint.price, completion.usage) : 0;
  if (MayBeBilledUnseen(completion)) {
    completion.estimated = true;
    if (TotalTokens(completion.usage) < TotalTokens(reserved)) completion.usage = reserved;
    completion.usd = std::max(completion.usd, held.usd);
  }
  double usd = completion.usd;
  int64_t tokens = TotalTokens(completion.usage);
  for (int i = 0; i < completion.unreported_tries; ++i) {
    Completion lost;
    lost.error = ErrorClass::kCut;
    lost.finish_reason = "error";
    lost.message =
        fmt::format("{}: a try was given up after it was sent; it is charged as reserved", Label(call.config()));
    lost.usage = reserved;
    lost.usd = held.usd;
    lost.estimated = true;
    lost.tries = 1;
    lost.model = completion.model;
    lost.effort = completion.effort;
    lost.price_id = completion.price_id;
    usd += lost.usd;
    tokens += TotalTokens(reserved);
    earlier.push_back(std::move(lost));
  }
  const bool limited = held.request || held.day;
  if (limited && (usd > held.usd * (1 + 1e-9) || tokens > held.tokens)) {
    spdlog::warn("{}: took ${:.6f} and {} tokens, more than the ${:.6f} and {} tokens reserved", Label(call.config()),
                 usd, tokens, held.usd, held.tokens);
  }
  if (held.request) call.request.budget->Settle(std::move(*held.request), usd, tokens);
  if (held.day) day_->Settle(std::move(*held.day), usd, tokens);
  return tokens;
}

}  // namespace warpsmith::gateway
