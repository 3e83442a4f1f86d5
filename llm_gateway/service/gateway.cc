#include "llm_gateway/service/gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "common/hash.h"
#include "llm_gateway/limits/call_budget.h"
#include "llm_gateway/replies/text.h"
#include "llm_gateway/service/parallel.h"
#include "llm_gateway/service/stored_reply.h"

namespace warpsmith::gateway {
namespace {

constexpr int kMaxCount = 64;
constexpr size_t kMaxSource = 1u << 20;

absl::Status CheckContext(const v1::ProblemContext& context) {
  if (context.problem().source().empty())
    return InvalidArgument("context.problem.source is empty; send the problem's file");
  if (context.problem().source().size() > kMaxSource) return InvalidArgument("context.problem.source is over 1 MiB");
  return absl::OkStatus();
}

absl::Status CheckCount(int count) {
  if (count >= 1 && count <= kMaxCount) return absl::OkStatus();
  return InvalidArgument(fmt::format("count is {}; it must be from 1 to {}", count, kMaxCount));
}

absl::StatusOr<std::vector<int>> IndexesOf(const v1::ImplementIdeaRequest& request) {
  std::vector<int> indexes(request.indexes().begin(), request.indexes().end());
  if (indexes.empty()) {
    for (int i = 0; i < request.count(); ++i) indexes.push_back(i);
  }
  std::set<int> distinct(indexes.begin(), indexes.end());
  if (distinct.size() != indexes.size() || *distinct.begin() < 0 || *distinct.rbegin() >= request.count()) {
    return InvalidArgument(
        fmt::format("indexes must be different numbers from 0 to count - 1 = {}", request.count() - 1));
  }
  return indexes;
}

bool IsAnswer(const v1::Implementation& implementation) { return implementation.status() != "model_error"; }

bool HasAnswer(const v1::ProposeIdeasReply& reply) {
  return reply.ideas_size() > 0 ||
         std::any_of(reply.calls().begin(), reply.calls().end(),
                     [](const v1::ModelCall& call) { return call.finish_reason() != "error"; });
}

// What a stored reply cost came out of the same request's budget.
void Charge(CallBudget& budget, const v1::Implementation& implementation) {
  double usd = implementation.call().usd();
  int64_t tokens = 0;
  const auto add = [&](const v1::ModelCall& call) {
    tokens += call.input_tokens() + call.output_tokens() + call.reasoning_tokens();
  };
  add(implementation.call());
  for (const v1::ModelCall& call : implementation.earlier_calls()) {
    usd += call.usd();
    add(call);
  }
  budget.AddSpent(usd, tokens);
}

}  // namespace

Gateway::Gateway(std::vector<std::unique_ptr<IdeaProvider>> providers, std::vector<std::string> variants,
                 ReplyStore& replies, TaskRunner& pool)
    : providers_(std::move(providers)), variants_(std::move(variants)), replies_(replies), pool_(pool) {}

absl::Status Gateway::CheckCall(const v1::CallContext& call) const {
  if (!(call.max_usd() >= 0) || call.max_tokens() < 0 || call.max_total_tokens() < 0) {
    return InvalidArgument("call.max_usd, max_tokens and max_total_tokens are limits; 0 is none, less makes no sense");
  }
  if (call.prompt_variant().empty() ||
      std::find(variants_.begin(), variants_.end(), call.prompt_variant()) != variants_.end()) {
    return absl::OkStatus();
  }
  return InvalidArgument(fmt::format("call.prompt_variant: there is no variant \"{}\"; there are: {}",
                                     OneLine(call.prompt_variant(), 100), fmt::join(variants_, ", ")));
}

absl::StatusOr<IdeaProvider*> Gateway::Named(const std::string& name) const {
  std::string known;
  for (const auto& provider : providers_) {
    if (provider->name() == name) return provider.get();
    known += (known.empty() ? "" : ", ") + provider->name();
  }
  return InvalidArgument(fmt::format("there is no model \"{}\"; configured: {}", OneLine(name, 100), known));
}

absl::StatusOr<Gateway::Choice> Gateway::Choose(const v1::CallContext& call) const {
  WARPSMITH_RETURN_IF_ERROR(CheckCall(call));
  Choice choice;
  for (const std::string& name : call.models()) {
    WARPSMITH_ASSIGN_OR_RETURN(IdeaProvider * provider, Named(name));
    choice.push_back(provider);
  }
  Choice ill;
  if (choice.empty()) {
    std::string problems;
    for (const auto& provider : providers_) {
      const std::string problem = provider->Problem();
      if (!problem.empty()) {
        problems += fmt::format("; {}: {}", provider->name(), problem);
      } else {
        (provider->Healthy() ? choice : ill).push_back(provider.get());
      }
    }
    if (choice.empty()) std::swap(choice, ill);
    if (choice.empty()) return FailedPrecondition("no model is usable" + problems);
  }
  uint64_t turn =
      call.idempotency_key().empty() ? static_cast<uint64_t>(call.seed()) : Sha256Prefix(call.idempotency_key());
  std::rotate(choice.begin(), choice.begin() + static_cast<long>(turn % choice.size()), choice.end());
  return choice;
}

IdeaProvider* Gateway::ProviderFor(const Choice& choice, const v1::Idea& idea, int index) {
  Choice models;
  IdeaProvider* catalog = nullptr;
  for (IdeaProvider* provider : choice) {
    if (provider->is_catalog()) {
      catalog = provider;
    } else {
      models.push_back(provider);
    }
  }
  if (catalog != nullptr && (models.empty() || !idea.catalog_key().empty())) return catalog;
  return models[static_cast<size_t>(index) % models.size()];
}

v1::ProposeIdeasReply Gateway::Ask(const v1::ProposeIdeasRequest& request, const Choice& choice,
                                   const CallScope& scope) {
  v1::ProposeIdeasReply reply;
  v1::ProposeIdeasRequest rest = request;
  std::string shortfall;
  for (IdeaProvider* provider : choice) {
    rest.set_count(request.count() - reply.ideas_size());
    v1::ProposeIdeasReply part = provider->ProposeIdeas(rest, scope);
    for (v1::ModelCall& call : *part.mutable_calls()) *reply.add_calls() = std::move(call);
    for (v1::Idea& idea : *part.mutable_ideas()) {
      v1::TriedIdea* accepted = rest.add_tried();
      *accepted->mutable_idea() = idea;
      accepted->set_outcome("proposed");
      accepted->set_parent_candidate_id(request.parent().candidate_id());
      *reply.add_ideas() = std::move(idea);
    }
    if (scope.cancellation.cancelled() || reply.ideas_size() >= request.count()) return reply;
    shortfall += (shortfall.empty() ? "" : "; ") + part.shortfall();
  }
  reply.set_shortfall(shortfall);
  return reply;
}

absl::StatusOr<v1::ProposeIdeasReply> Gateway::ProposeIdeas(const v1::ProposeIdeasRequest& request,
                                                            Cancellation& cancellation) {
  WARPSMITH_RETURN_IF_ERROR(CheckContext(request.context()));
  WARPSMITH_RETURN_IF_ERROR(CheckCount(request.count()));
  WARPSMITH_ASSIGN_OR_RETURN(Choice choice, Choose(request.call()));
  CallBudget budget(request.call().max_usd(), request.call().max_total_tokens());
  WARPSMITH_ASSIGN_OR_RETURN(v1::ProposeIdeasReply reply,
                             OnceStored<v1::ProposeIdeasReply>(
                                 replies_, ReplyKey(request.call(), "propose"), cancellation,
                                 [&] { return Ask(request, choice, CallScope(cancellation, &budget)); }, HasAnswer));
  if (cancellation.cancelled()) return Cancelled("nobody waits for the ideas any more");
  return reply;
}

absl::Status Gateway::ImplementIdea(const v1::ImplementIdeaRequest& request, const Emit& emit,
                                    Cancellation& cancellation) {
  WARPSMITH_RETURN_IF_ERROR(CheckContext(request.context()));
  WARPSMITH_RETURN_IF_ERROR(CheckCount(request.count()));
  if (request.idea().title().empty()) return InvalidArgument("idea.title is empty; say what is to be implemented");
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<int> indexes, IndexesOf(request));
  WARPSMITH_ASSIGN_OR_RETURN(Choice choice, Choose(request.call()));
  CallBudget budget(request.call().max_usd(), request.call().max_total_tokens());
  const auto key = [&](int index) { return ReplyKey(request.call(), fmt::format("implement {}", index)); };

  std::mutex emitting;
  size_t left = indexes.size();
  const auto tell = [&](v1::Implementation implementation) {
    std::lock_guard lock(emitting);
    const bool last = --left == 0;
    if (!cancellation.cancelled() && !emit(std::move(implementation), last)) cancellation.Cancel();
  };
  std::vector<int> missing;
  for (int index : indexes) {
    if (auto stored = FindStored<v1::Implementation>(replies_, key(index))) {
      Charge(budget, *stored);
      tell(*std::move(stored));
    } else {
      missing.push_back(index);
    }
  }
  InParallel(pool_, missing.size(), [&](size_t i) {
    const int index = missing[i];
    absl::StatusOr<v1::Implementation> made = OnceStored<v1::Implementation>(
        replies_, key(index), cancellation,
        [&] {
          return ProviderFor(choice, request.idea(), index)
              ->Implement(request, index, CallScope(cancellation, &budget));
        },
        IsAnswer);
    if (made.ok()) return tell(*std::move(made));
    v1::Implementation failed;
    failed.set_index(index);
    failed.set_status("model_error");
    failed.set_message(Message(made.status()));
    tell(std::move(failed));
  });
  return cancellation.cancelled() ? Cancelled("nobody waits for the implementations any more") : absl::OkStatus();
}

absl::StatusOr<v1::Implementation> Gateway::Repair(const v1::RepairRequest& request, Cancellation& cancellation) {
  WARPSMITH_RETURN_IF_ERROR(CheckContext(request.context()));
  if (request.failed().source().empty()) return InvalidArgument("failed.source is empty; send the candidate to repair");
  if (request.attempt() < 1) return InvalidArgument("attempt counts from 1");
  WARPSMITH_ASSIGN_OR_RETURN(Choice choice, Choose(request.call()));
  CallBudget budget(request.call().max_usd(), request.call().max_total_tokens());
  WARPSMITH_ASSIGN_OR_RETURN(
      v1::Implementation implementation,
      OnceStored<v1::Implementation>(
          replies_, ReplyKey(request.call(), "repair"), cancellation,
          [&] { return ProviderFor(choice, request.idea(), 0)->Repair(request, CallScope(cancellation, &budget)); },
          IsAnswer));
  if (cancellation.cancelled()) return Cancelled("nobody waits for the repair any more");
  return implementation;
}

v1::ListModelsReply Gateway::ListModels() const {
  v1::ListModelsReply reply;
  for (const auto& provider : providers_) *reply.add_models() = provider->Describe();
  return reply;
}

}  // namespace warpsmith::gateway
