#include "llm_gateway/limits/guarded_embeddings.h"

#include <fmt/format.h>

#include <utility>

#include "llm_gateway/limits/price_table.h"
#include "llm_gateway/limits/token_count.h"

namespace warpsmith::gateway {
namespace {

constexpr Duration kLongestTurn = std::chrono::seconds(30);  // ideas wait for it

absl::Status Exhausted(std::string what) { return MakeStatus(absl::StatusCode::kResourceExhausted, std::move(what)); }

}  // namespace

absl::StatusOr<std::vector<std::vector<float>>> GuardedEmbeddings::Embed(const std::vector<std::string>& texts,
                                                                         Asking& asking) {
  const ModelConfig& config = endpoint_.config;
  const std::string label = fmt::format("{}: embeddings of {}", config.name, config.embedding_model);
  TokenUsage most;
  for (const std::string& text : texts) most.input += EstimateTokens(text);
  const double most_usd = endpoint_.price ? CostOf(*endpoint_.price, most) : 0;
  if (endpoint_.circuit != nullptr) {
    if (const std::string why = endpoint_.circuit->WhyNot(); !why.empty()) {
      return Unavailable(fmt::format("{}: is not asked now: {}", label, why));
    }
  }

  // Reservations that are not settled are charged whole, so each way out below settles them.
  std::vector<std::pair<CallBudget*, CallBudget::Reservation>> held;
  const auto settle = [&held](double usd, int64_t tokens) {
    for (auto& [budget, reservation] : held) budget->Settle(std::move(reservation), usd, tokens);
  };
  for (CallBudget* budget : {asking.budget, day_}) {
    if (budget == nullptr) continue;
    if (budget->limits_usd() && !endpoint_.price) {
      settle(0, 0);
      return FailedPrecondition(fmt::format(
          "{}: have no price, and dollars are limited; give the model an embedding_price in gateway.yaml (0 for a "
          "server of your own)",
          label));
    }
    auto reservation = budget->Reserve(most_usd, most.input);
    if (!reservation) {
      settle(0, 0);
      return Exhausted(fmt::format("{}: up to ${:.6f} and {} tokens do not fit into what {} leaves", label, most_usd,
                                   most.input, budget == day_ ? "max_usd_per_day" : "the request's limit"));
    }
    held.emplace_back(budget, std::move(*reservation));
  }
  std::optional<RateLimiter::Ticket> ticket;
  if (endpoint_.limiter != nullptr) {
    RateLimiter::Admission admission = endpoint_.limiter->Acquire(most.input, kLongestTurn, asking.cancellation);
    if (!admission.ticket) {
      settle(0, 0);
      return Exhausted(fmt::format("{}: {}", label, admission.message));
    }
    ticket.emplace(std::move(*admission.ticket));
  }

  EmbeddingAnswer answer = server_.Embed(texts, asking.cancellation);
  TokenUsage taken;
  const bool told = answer.tokens >= 0;
  if (answer.may_be_billed) taken.input = told ? answer.tokens : most.input;
  const double usd = endpoint_.price ? CostOf(*endpoint_.price, taken) : 0;
  settle(usd, taken.input);
  if (ticket) endpoint_.limiter->Report(std::move(*ticket), taken.input, answer.sent ? 1 : 0);
  if (answer.sent) {
    v1::ModelCall& call = asking.calls.emplace_back();
    call.set_provider(config.provider);
    call.set_model(config.name);
    call.set_prompt_version(kEmbeddingPrompt);
    call.set_input_tokens(taken.input);
    call.set_usd(usd);
    if (endpoint_.price) call.set_price_id(endpoint_.price_id);
    call.set_estimated(answer.may_be_billed && !told);
    call.set_first_byte_seconds(answer.first_byte_seconds);
    call.set_seconds(answer.seconds);
    call.set_tries(1);
    call.set_finish_reason(answer.status.ok() ? "stop" : "error");
    if (!answer.status.ok()) {
      call.set_error(Message(answer.status));
      call.set_error_class(std::string(Name(ErrorClass::kServer)));
    }
  }
  if (!answer.status.ok()) return answer.status;
  return std::move(answer.vectors);
}

}  // namespace warpsmith::gateway
