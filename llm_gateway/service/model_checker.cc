#include "llm_gateway/service/model_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "llm_gateway/limits/token_count.h"
#include "llm_gateway/providers/model_call.h"
#include "llm_gateway/replies/text.h"
#include "llm_gateway/service/parallel.h"

namespace warpsmith::gateway {
namespace {

constexpr char kInstruction[] = "You answer in one word.";
constexpr char kQuestion[] = "Answer with the one word: ready";
// Room for a model that must think; a word is all it takes for one that need not.
constexpr int64_t kMostTokens = 2048;

PromptRequest TinyRequest(const ModelConfig& config) {
  PromptRequest request;
  request.messages = {{"system", kInstruction}, {"user", kQuestion}};
  request.max_output_tokens =
      config.max_output_tokens > 0 ? std::min(config.max_output_tokens, kMostTokens) : kMostTokens;
  if (!config.efforts.empty()) request.effort = config.efforts.front();
  return request;
}

v1::ModelCall Record(const PooledModel& model, const Completion& completion) {
  v1::ModelCall call = ToModelCall(completion);
  call.set_provider(model.config.provider);
  call.set_model(model.config.name);
  return call;
}

}  // namespace

absl::Status ModelChecker::Check(const v1::CheckModelsRequest& request,
                                 const std::function<bool(const v1::ModelCheck&)>& emit, Cancellation& cancellation) {
  const v1::ListModelsReply all = gateway_.ListModels();
  std::vector<v1::ModelDescription> wanted;
  for (const std::string& name : request.models()) {
    bool found = false;
    for (const v1::ModelDescription& one : all.models()) {
      if (one.name() == name) wanted.push_back(one);
      found = found || one.name() == name;
    }
    if (!found) {
      return InvalidArgument(
          fmt::format("there is no model \"{}\"; `warpsmith status` lists those there are", OneLine(name, 100)));
    }
  }
  if (wanted.empty()) wanted.assign(all.models().begin(), all.models().end());
  std::mutex emitting;
  InParallel(pool_, wanted.size(), [&](size_t i) {
    const v1::ModelCheck check = CheckOne(wanted[i], cancellation);
    std::lock_guard lock(emitting);
    if (!cancellation.cancelled() && !emit(check)) cancellation.Cancel();
  });
  return cancellation.cancelled() ? Cancelled("nobody waits for the checks any more") : absl::OkStatus();
}

v1::ModelCheck ModelChecker::CheckOne(const v1::ModelDescription& description, Cancellation& cancellation) {
  v1::ModelCheck check;
  *check.mutable_model() = description;
  check.set_limit_requests(-1);
  check.set_limit_tokens(-1);
  check.set_remaining_requests(-1);
  check.set_remaining_tokens(-1);
  PooledModel* model = models_.Find(description.name());
  if (model == nullptr || !description.problem().empty()) {  // the catalog, which has nothing to be asked; or no key
    check.set_ok(description.problem().empty());
    check.set_error(description.problem());
    return check;
  }
  const PromptRequest request = TinyRequest(model->config);
  const std::optional<Price>& price = model->endpoint.price;
  const int64_t input = EstimatePromptTokens(request);
  auto reservation = models_.day().Reserve(price ? MostCost(*price, input, request.max_output_tokens, false) : 0, 0);
  if (!reservation) {
    check.set_error("the day's budget (max_usd_per_day) does not leave enough for even this call");
    return check;
  }
  Completion completion = model->bare->Complete(request, nullptr, cancellation);
  if (price) {
    completion.usd = CostOf(*price, completion.usage);
    completion.price_id = model->endpoint.price_id;
  }
  models_.day().Settle(*std::move(reservation), completion.usd, TotalTokens(completion.usage));
  check.set_ok(completion.ok());
  check.set_error(Bounded(ValidText(completion.message), 4000));
  check.set_first_byte_seconds(completion.first_byte_seconds);
  check.set_seconds(completion.seconds);
  *check.mutable_call() = Record(*model, completion);
  check.set_limit_requests(completion.server_limits.limit_requests);
  check.set_limit_tokens(completion.server_limits.limit_tokens);
  check.set_remaining_requests(completion.server_limits.remaining_requests);
  check.set_remaining_tokens(completion.server_limits.remaining_tokens);
  return check;
}

}  // namespace warpsmith::gateway
