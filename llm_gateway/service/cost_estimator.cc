#include "llm_gateway/service/cost_estimator.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "llm_gateway/limits/token_count.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

// What replies have, as far as it is visible, and what comes into prompts once a search is under way. An idea is some
// ten lines of JSON; a candidate file of 100 to 200 lines has some 3,000 tokens.
constexpr int64_t kIdeaTokens = 350;
constexpr int64_t kCodeTokens = 3'000;
constexpr int64_t kTriedTokens = 45;  // the line of one idea in the list of those tried
constexpr int64_t kFailureTokens = 600;
constexpr int64_t kUnknownCap = 32'000;
constexpr int kMaxCalls = 10'000'000;

// What a model thinks before it answers, by the effort it is configured with.
int64_t ReasoningTokens(const ModelConfig& config) {
  const std::string& effort = config.reasoning_effort;
  if (effort == "none") return 0;
  if (effort == "minimal") return 500;
  if (effort == "low") return 2'000;
  if (effort == "medium") return 6'000;
  if (effort == "high") return 12'000;
  if (!effort.empty()) return 20'000;
  if (config.thinking_budget.value_or(0) > 0) return *config.thinking_budget / 2;
  return 0;
}

int64_t Count(const RenderedPrompt& prompt) {
  PromptRequest request;
  request.messages = prompt.messages;
  request.schema = prompt.schema;
  return EstimatePromptTokens(request);
}

struct PromptTokens {
  int64_t propose = 0;
  int64_t implement = 0;
  int64_t repair = 0;
};

absl::StatusOr<PromptTokens> CountPrompts(const PromptSet& prompts, const v1::EstimateRequest& request) {
  v1::Idea idea;
  idea.set_title("An idea");
  v1::ProposeIdeasRequest propose;
  *propose.mutable_context() = request.context();
  propose.set_count(std::max(1, request.ideas_per_call()));
  v1::ImplementIdeaRequest implement;
  *implement.mutable_context() = request.context();
  *implement.mutable_idea() = idea;
  implement.set_count(1);
  v1::RepairRequest repair;
  *repair.mutable_context() = request.context();
  *repair.mutable_idea() = idea;
  repair.set_attempt(1);
  WARPSMITH_ASSIGN_OR_RETURN(const RenderedPrompt proposing, prompts.ProposeIdeas(propose));
  WARPSMITH_ASSIGN_OR_RETURN(const RenderedPrompt implementing, prompts.ImplementIdea(implement, 0));
  WARPSMITH_ASSIGN_OR_RETURN(const RenderedPrompt repairing, prompts.Repair(repair));
  PromptTokens tokens;
  // On average half of all ideas have been tried; all but the first round's prompts carry a parent's source.
  const int64_t tried = int64_t{request.propose_calls()} * std::max(1, request.ideas_per_call()) / 2;
  tokens.propose = Count(proposing) + kCodeTokens + std::min<int64_t>(tried, 200) * kTriedTokens;
  tokens.implement = Count(implementing) + kCodeTokens + kIdeaTokens;
  tokens.repair = Count(repairing) + kCodeTokens + kIdeaTokens + kFailureTokens;
  return tokens;
}

struct Calls {
  int64_t propose;
  int64_t implement;
  int64_t repair;
  int64_t ideas;
};

v1::ModelEstimate EstimateAll(const PooledModel& model, const Calls& calls, const PromptTokens& prompt) {
  const ModelConfig& config = model.config;
  const std::optional<Price>& price = model.endpoint.price;
  const int64_t first_cap = config.max_output_tokens > 0 ? config.max_output_tokens : kUnknownCap;
  const int64_t retry_cap = config.most_output_tokens > 0 ? config.most_output_tokens : 2 * first_cap;
  const int64_t thinking = ReasoningTokens(config);
  v1::ModelEstimate estimate;
  estimate.set_model(config.name);
  if (price) estimate.set_price_id(model.endpoint.price_id);
  // Prices may depend on the length of a prompt, so each kind of call is priced by itself. A truncated reply is asked
  // for once more with more room.
  const auto add = [&](int64_t expected, int64_t most, int64_t input, int64_t visible) {
    const int64_t output = std::min(first_cap, visible + thinking);
    estimate.set_input_tokens(estimate.input_tokens() + expected * input);
    estimate.set_output_tokens(estimate.output_tokens() + expected * output);
    estimate.set_most_output_tokens(estimate.most_output_tokens() + most * (first_cap + retry_cap));
    if (!price) return;
    TokenUsage usage;
    usage.input = input;
    usage.output = output;
    estimate.set_usd(estimate.usd() + static_cast<double>(expected) * CostOf(*price, usage));
    estimate.set_most_usd(estimate.most_usd() + static_cast<double>(most) * (MostCost(*price, input, first_cap, true) +
                                                                             MostCost(*price, input, retry_cap, true)));
  };
  // Ideas are asked for once more where some were not new.
  add(calls.propose, 2 * calls.propose, prompt.propose, calls.ideas * kIdeaTokens);
  add(calls.implement, calls.implement, prompt.implement, kCodeTokens);
  add(calls.repair, calls.repair, prompt.repair, kCodeTokens);
  return estimate;
}

}  // namespace

absl::StatusOr<v1::EstimateReply> CostEstimator::Estimate(const v1::EstimateRequest& request) const {
  for (const int32_t calls :
       {request.propose_calls(), request.implement_calls(), request.repair_calls(), request.ideas_per_call()}) {
    if (calls < 0 || calls > kMaxCalls) {
      return InvalidArgument(fmt::format("numbers of calls must be from 0 to {}; one is {}", kMaxCalls, calls));
    }
  }
  std::vector<const PooledModel*> chosen;
  bool catalog = false;
  const auto choose = [&](const std::string& name) {
    const PooledModel* model = models_.Find(name);
    if (model != nullptr) chosen.push_back(model);
    catalog = catalog || model == nullptr;
  };
  const v1::ListModelsReply all = gateway_.ListModels();
  std::string known;
  for (const v1::ModelDescription& one : all.models()) known += (known.empty() ? "" : ", ") + one.name();
  for (const std::string& name : request.models()) {
    if (std::none_of(all.models().begin(), all.models().end(),
                     [&](const v1::ModelDescription& one) { return one.name() == name; })) {
      return InvalidArgument(fmt::format("there is no model \"{}\"; configured: {}", OneLine(name, 100), known));
    }
    choose(name);
  }
  if (request.models().empty()) {
    for (const v1::ModelDescription& one : all.models()) {
      if (one.problem().empty()) choose(one.name());
    }
  }
  v1::EstimateReply reply;
  if (catalog) reply.add_notes("the catalog's share costs nothing; all calls are counted as if models took them");
  if (chosen.empty()) {
    if (!catalog) return FailedPrecondition("no model is usable; `warpsmith gateway check` says why");
    reply.add_notes("only the catalog answers: no model is called");
    return reply;
  }
  WARPSMITH_ASSIGN_OR_RETURN(const PromptTokens prompt, CountPrompts(prompts_, request));
  const Calls calls{request.propose_calls(), request.implement_calls(), request.repair_calls(),
                    std::max(1, request.ideas_per_call())};
  const auto count = static_cast<double>(chosen.size());
  std::string unpriced;
  double input = 0, output = 0, usd = 0, most_usd = 0;
  for (const PooledModel* model : chosen) {
    v1::ModelEstimate estimate = EstimateAll(*model, calls, prompt);
    if (estimate.price_id().empty()) unpriced += (unpriced.empty() ? "" : ", ") + estimate.model();
    // The models' shares add up to all calls.
    estimate.set_input_tokens(static_cast<int64_t>(static_cast<double>(estimate.input_tokens()) / count));
    estimate.set_output_tokens(static_cast<int64_t>(static_cast<double>(estimate.output_tokens()) / count));
    estimate.set_most_output_tokens(static_cast<int64_t>(static_cast<double>(estimate.most_output_tokens()) / count));
    estimate.set_usd(estimate.usd() / count);
    estimate.set_most_usd(estimate.most_usd() / count);
    input += static_cast<double>(estimate.input_tokens());
    output += static_cast<double>(estimate.output_tokens());
    usd += estimate.usd();
    most_usd += estimate.most_usd();
    *reply.add_models() = std::move(estimate);
  }
  reply.set_input_tokens(static_cast<int64_t>(input));
  reply.set_output_tokens(static_cast<int64_t>(output));
  reply.set_usd(usd);
  reply.set_most_usd(most_usd);
  if (!unpriced.empty()) {
    reply.add_notes(
        fmt::format("no price is known of {}: their share counts as 0 $; give it one in gateway.yaml", unpriced));
  }
  reply.add_notes(fmt::format(
      "prompts have about {} (ideas), {} (code) and {} (repair) tokens, counted on the high side and without caches; "
      "visible replies are taken at {} tokens an idea and {} a kernel, thinking by the model's reasoning_effort",
      prompt.propose, prompt.implement, prompt.repair, kIdeaTokens, kCodeTokens));
  reply.add_notes(
      "at most: every reply as long as its cap, every truncated one asked for again with more room, every call for "
      "ideas asked again once");
  return reply;
}

}  // namespace warpsmith::gateway
