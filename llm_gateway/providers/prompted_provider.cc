#include "llm_gateway/providers/prompted_provider.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/log.h"
#include "llm_gateway/async/wait_point.h"
#include "llm_gateway/providers/model_call.h"
#include "llm_gateway/replies/code.h"
#include "llm_gateway/replies/ideas.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxRawReply = 1u << 20;
constexpr size_t kLongReply = 64u << 10;  // takes about a millisecond to read

// Others wait for the thread of a call's fiber.
void OnItsOwnIfLong(const std::string& text, const std::function<void()>& read) {
  text.size() > kLongReply ? RunBlocking(read) : read();
}

// `close` counts ideas from `first` on as those given here.
void Divide(std::vector<v1::Idea> ideas, const std::vector<SimilarPair>& close, size_t first,
            std::vector<v1::Idea>& kept, std::vector<v1::Idea>& dropped) {
  for (size_t i = 0; i < ideas.size(); ++i) {
    const bool too_close = std::any_of(
        close.begin(), close.end(), [&](const SimilarPair& pair) { return pair.index == static_cast<int>(first + i); });
    (too_close ? dropped : kept).push_back(std::move(ideas[i]));
  }
}

}  // namespace

PromptedProvider::PromptedProvider(std::string name, ModelProvider& model, const PromptSet& prompts,
                                   const IdeaSimilarity& similarity, PromptedProviderFacts facts)
    : name_(std::move(name)), model_(model), prompts_(prompts), similarity_(similarity), facts_(std::move(facts)) {}

const std::string& PromptedProvider::NameOf(const Completion& completion) const {
  return completion.model.empty() ? name_ : completion.model;
}

Completion PromptedProvider::Complete(const absl::StatusOr<RenderedPrompt>& prompt, const v1::CallContext& context,
                                      int sample_index, const CallScope& scope) {
  Completion completion;
  completion.finish_reason = "error";
  if (!prompt.ok()) {
    completion.error = ErrorClass::kConfiguration;
    completion.message = Message(prompt.status());
    return completion;
  }
  if (std::string problem = facts_.problem(); !problem.empty()) {
    completion.error = ErrorClass::kConfiguration;
    completion.message = std::move(problem);
    return completion;
  }
  if (scope.cancellation.cancelled()) {
    completion.error = ErrorClass::kCancelled;
    completion.message = "cancelled before it began";
    return completion;
  }
  PromptRequest request;
  request.messages = prompt->messages;
  request.max_output_tokens = context.max_tokens();
  request.effort = context.effort();
  request.sample_index = sample_index;
  request.schema_name = prompt->schema_name;
  request.schema = prompt->schema;
  request.budget = scope.budget;
  return model_.Complete(request, nullptr, scope.cancellation);
}

v1::ModelCall PromptedProvider::Record(const absl::StatusOr<RenderedPrompt>& prompt,
                                       const Completion& completion) const {
  v1::ModelCall call = ToModelCall(completion);
  call.set_model(NameOf(completion));
  call.set_provider(facts_.provider_of(call.model()));
  if (prompt.ok()) {
    call.set_prompt_version(prompt->version);
    call.set_prompt_variant(prompt->variant);
    call.set_prompt_sha256(prompt->sha256);
  }
  call.set_raw_reply(Bounded(completion.text, kMaxRawReply));
  return call;
}

std::vector<v1::Idea> PromptedProvider::AskForIdeas(const absl::StatusOr<RenderedPrompt>& prompt,
                                                    const v1::ProposeIdeasRequest& request, int count, int sample_index,
                                                    const std::vector<std::string>& taken, const CallScope& scope,
                                                    v1::ProposeIdeasReply& reply, std::string& shortfall) {
  Completion completion = Complete(prompt, request.call(), sample_index, scope);
  for (const Completion& earlier : completion.earlier) *reply.add_calls() = Record(prompt, earlier);
  *reply.add_calls() = Record(prompt, completion);
  shortfall.clear();
  if (!completion.ok()) {
    shortfall = "model_error: " + Bounded(ValidText(completion.message), 4000);
    return {};
  }
  if (completion.finish_reason == "refusal") {
    shortfall = fmt::format("{} refused to answer", NameOf(completion));
    return {};
  }
  IdeasReply ideas;
  OnItsOwnIfLong(completion.text, [&] { ideas = ReadIdeas(completion.text, count, taken); });
  for (v1::Idea& idea : ideas.ideas) idea.set_origin(NameOf(completion));
  if (!ideas.shortfall.empty()) {
    shortfall = fmt::format("{}: {}{}", NameOf(completion), ideas.shortfall,
                            completion.finish_reason == "length" ? "; the reply ended at its token limit" : "");
  }
  return std::move(ideas.ideas);
}

std::vector<SimilarPair> PromptedProvider::TooCloseTo(const std::vector<v1::Idea>& ideas,
                                                      const v1::ProposeIdeasRequest& request, const CallScope& scope,
                                                      v1::ProposeIdeasReply& reply) const {
  Asking asking(scope.cancellation, scope.budget);
  absl::StatusOr<std::vector<SimilarPair>> close = std::vector<SimilarPair>();
  // Every idea with every earlier one: too long for a thread that other calls share.
  RunBlocking([&] { close = TooClose(similarity_, ideas, request.tried(), request.parent().candidate_id(), asking); });
  for (v1::ModelCall& call : asking.calls) *reply.add_calls() = std::move(call);
  if (close.ok()) return *std::move(close);
  spdlog::warn("ideas are taken without a look at how new they are: {}", Message(close.status()));
  return {};
}

v1::ProposeIdeasReply PromptedProvider::ProposeIdeas(const v1::ProposeIdeasRequest& request, const CallScope& scope) {
  v1::ProposeIdeasReply reply;
  std::vector<std::string> taken = TakenTitles(request.tried(), request.parent().candidate_id());
  std::string shortfall;
  std::vector<v1::Idea> first =
      AskForIdeas(prompts_.ProposeIdeas(request), request, request.count(), 0, taken, scope, reply, shortfall);
  std::vector<SimilarPair> close = TooCloseTo(first, request, scope, reply);
  std::vector<v1::Idea> kept, dropped;
  Divide(std::move(first), close, 0, kept, dropped);
  if (!dropped.empty() && !scope.cancellation.cancelled()) {
    for (const v1::Idea& idea : kept) taken.push_back(idea.title());
    const size_t before = kept.size();
    std::vector<v1::Idea> both = kept;
    std::vector<v1::Idea> second =
        AskForIdeas(prompts_.ProposeIdeasAgain(request, kept, close), request,
                    request.count() - static_cast<int>(before), 1, taken, scope, reply, shortfall);
    both.insert(both.end(), second.begin(), second.end());
    std::vector<v1::Idea> dropped_again;
    Divide(std::move(second), TooCloseTo(both, request, scope, reply), before, kept, dropped_again);
    if (!dropped_again.empty()) {
      shortfall += fmt::format("{}{}: {} ideas were too close to earlier ones, also when asked again",
                               shortfall.empty() ? "" : "; ", name_, dropped_again.size());
    }
    // A repetition is better than nothing at all: without an idea the round has nothing to try.
    if (kept.empty()) kept = dropped_again.empty() ? std::move(dropped) : std::move(dropped_again);
  }
  for (v1::Idea& idea : kept) *reply.add_ideas() = std::move(idea);
  if (reply.ideas_size() < request.count()) reply.set_shortfall(shortfall);
  return reply;
}

v1::Implementation PromptedProvider::Code(const absl::StatusOr<RenderedPrompt>& prompt, const Completion& completion,
                                          int index) const {
  v1::Implementation implementation;
  implementation.set_index(index);
  for (const Completion& earlier : completion.earlier) *implementation.add_earlier_calls() = Record(prompt, earlier);
  *implementation.mutable_call() = Record(prompt, completion);
  if (!completion.ok()) {
    implementation.set_status("model_error");
    implementation.set_message(implementation.call().error());
    return implementation;
  }
  if (completion.finish_reason == "refusal") {
    implementation.set_status("refused");
    implementation.set_message(fmt::format("{} refused: {}", NameOf(completion), OneLine(completion.text, 500)));
    return implementation;
  }
  CodeReply code;
  OnItsOwnIfLong(completion.text, [&] { code = ReadCode(completion.text, completion.finish_reason == "length"); });
  implementation.set_status(code.status);
  implementation.set_source(ValidText(code.source));
  implementation.set_message(code.message);
  return implementation;
}

v1::Implementation PromptedProvider::Implement(const v1::ImplementIdeaRequest& request, int index,
                                               const CallScope& scope) {
  const absl::StatusOr<RenderedPrompt> prompt = prompts_.ImplementIdea(request, index);
  return Code(prompt, Complete(prompt, request.call(), index, scope), index);
}

v1::Implementation PromptedProvider::Repair(const v1::RepairRequest& request, const CallScope& scope) {
  const absl::StatusOr<RenderedPrompt> prompt = prompts_.Repair(request);
  return Code(prompt, Complete(prompt, request.call(), 0, scope), 0);
}

}  // namespace warpsmith::gateway
