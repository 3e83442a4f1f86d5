#include "llm_gateway/service/gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "common/hash.h"
#include "llm_gateway/replies/text.h"

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

}  // namespace

absl::StatusOr<Gateway::Choice> Gateway::Choose(const v1::CallContext& call) const {
  Choice choice;
  for (const std::string& name : call.models()) {
    auto found = std::find_if(providers_.begin(), providers_.end(),
                              [&](const auto& one) { return one->Describe().name() == name; });
    if (found == providers_.end()) {
      std::string known;
      for (const auto& provider : providers_) known += (known.empty() ? "" : ", ") + provider->Describe().name();
      return InvalidArgument(fmt::format("there is no model \"{}\"; configured: {}", OneLine(name, 100), known));
    }
    choice.push_back(found->get());
  }
  if (choice.empty()) {
    std::string problems;
    for (const auto& provider : providers_) {
      v1::ModelDescription description = provider->Describe();
      if (description.enabled()) {
        choice.push_back(provider.get());
      } else {
        problems += fmt::format("; {}: {}", description.name(), description.problem());
      }
    }
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

absl::StatusOr<v1::ProposeIdeasReply> Gateway::ProposeIdeas(const v1::ProposeIdeasRequest& request,
                                                            Cancellation& cancellation) {
  WARPSMITH_RETURN_IF_ERROR(CheckContext(request.context()));
  WARPSMITH_RETURN_IF_ERROR(CheckCount(request.count()));
  WARPSMITH_ASSIGN_OR_RETURN(Choice choice, Choose(request.call()));
  v1::ProposeIdeasReply reply;
  v1::ProposeIdeasRequest rest = request;
  std::string shortfall;
  for (IdeaProvider* provider : choice) {
    rest.set_count(request.count() - reply.ideas_size());
    v1::ProposeIdeasReply part = provider->ProposeIdeas(rest, cancellation);
    for (v1::ModelCall& call : *part.mutable_calls()) *reply.add_calls() = std::move(call);
    for (v1::Idea& idea : *part.mutable_ideas()) {
      v1::TriedIdea* accepted = rest.add_tried();
      *accepted->mutable_idea() = idea;
      accepted->set_outcome("proposed");
      *reply.add_ideas() = std::move(idea);
    }
    if (cancellation.cancelled()) return Cancelled("nobody waits for the ideas any more");
    if (reply.ideas_size() >= request.count()) return reply;
    shortfall += (shortfall.empty() ? "" : "; ") + part.shortfall();
  }
  reply.set_shortfall(shortfall);
  return reply;
}

absl::Status Gateway::ImplementIdea(const v1::ImplementIdeaRequest& request,
                                    const std::function<bool(const v1::Implementation&)>& emit,
                                    Cancellation& cancellation) {
  WARPSMITH_RETURN_IF_ERROR(CheckContext(request.context()));
  WARPSMITH_RETURN_IF_ERROR(CheckCount(request.count()));
  if (request.idea().title().empty()) return InvalidArgument("idea.title is empty; say what is to be implemented");
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<int> indexes, IndexesOf(request));
  WARPSMITH_ASSIGN_OR_RETURN(Choice choice, Choose(request.call()));

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<v1::Implementation> done;
  std::vector<std::thread> threads;
  threads.reserve(indexes.size());
  for (int index : indexes) {
    threads.emplace_back([&, index] {
      v1::Implementation implementation =
          ProviderFor(choice, request.idea(), index)->Implement(request, index, cancellation);
      std::lock_guard lock(mutex);
      done.push_back(std::move(implementation));
      changed.notify_one();
    });
  }
  bool listening = true;
  for (size_t emitted = 0; emitted < indexes.size(); ++emitted) {
    v1::Implementation next;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !done.empty(); });
      next = std::move(done.front());
      done.pop_front();
    }
    if (listening && !cancellation.cancelled() && !emit(next)) {
      listening = false;
      cancellation.Cancel();
    }
  }
  for (std::thread& thread : threads) thread.join();
  return cancellation.cancelled() ? Cancelled("nobody waits for the implementations any more") : absl::OkStatus();
}

absl::StatusOr<v1::Implementation> Gateway::Repair(const v1::RepairRequest& request, Cancellation& cancellation) {
  WARPSMITH_RETURN_IF_ERROR(CheckContext(request.context()));
  if (request.failed().source().empty()) return InvalidArgument("failed.source is empty; send the candidate to repair");
  if (request.attempt() < 1) return InvalidArgument("attempt counts from 1");
  WARPSMITH_ASSIGN_OR_RETURN(Choice choice, Choose(request.call()));
  v1::Implementation implementation = ProviderFor(choice, request.idea(), 0)->Repair(request, cancellation);
  if (cancellation.cancelled()) return Cancelled("nobody waits for the repair any more");
  return implementation;
}

v1::ListModelsReply Gateway::ListModels() const {
  v1::ListModelsReply reply;
  for (const auto& provider : providers_) *reply.add_models() = provider->Describe();
  return reply;
}

}  // namespace warpsmith::gateway
