#include "llm_gateway/providers/prompted_provider.h"

#include <fmt/format.h>

#include "llm_gateway/replies/code.h"
#include "llm_gateway/replies/ideas.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxRawReply = 1u << 20;

}  // namespace

PromptedProvider::PromptedProvider(PromptedProviderOptions options, std::unique_ptr<ModelProvider> model,
                                   const PromptSet& prompts)
    : options_(std::move(options)), model_(std::move(model)), prompts_(prompts) {}

v1::ModelDescription PromptedProvider::Describe() const {
  v1::ModelDescription description;
  description.set_name(options_.name);
  description.set_provider(options_.provider);
  description.set_enabled(options_.problem.empty());
  description.set_problem(options_.problem);
  return description;
}

bool PromptedProvider::Enter(Cancellation& cancellation) {
  // The callback takes the lock so that a cancellation between the check and the wait is not missed.
  auto subscription = cancellation.Subscribe([this] {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  while (running_ >= options_.concurrency) {
    // Asking a Cancellation while holding our lock could meet a callback that holds its lock and wants ours.
    lock.unlock();
    if (cancellation.cancelled()) return false;
    lock.lock();
    if (running_ >= options_.concurrency) changed_.wait_for(lock, std::chrono::milliseconds(50));
  }
  ++running_;
  lock.unlock();
  return true;
}

void PromptedProvider::Leave() {
  std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_one();
}

Completion PromptedProvider::Complete(const RenderedPrompt& prompt, const v1::CallContext& context,
                                      Cancellation& cancellation) {
  Completion completion;
  completion.finish_reason = "error";
  if (model_ == nullptr) {
    completion.error = ErrorClass::kConfiguration;
    completion.message = options_.problem;
    return completion;
  }
  if (cancellation.cancelled() || !Enter(cancellation)) {
    completion.error = ErrorClass::kCancelled;
    completion.message = "cancelled before it began";
    return completion;
  }
  PromptRequest request;
  request.messages = prompt.messages;
  request.max_output_tokens = context.max_tokens();
  completion = model_->Complete(request, nullptr, cancellation);
  Leave();
  return completion;
}

v1::ModelCall PromptedProvider::Record(const RenderedPrompt& prompt, const Completion& completion) const {
  v1::ModelCall call;
  call.set_provider(options_.provider);
  call.set_model(options_.name);
  call.set_prompt_version(prompt.version);
  call.set_prompt_sha256(prompt.sha256);
  call.set_input_tokens(completion.usage.input);
  call.set_cached_input_tokens(completion.usage.cached_input);
  call.set_output_tokens(completion.usage.output);
  call.set_reasoning_tokens(completion.usage.reasoning);
  call.set_first_byte_seconds(completion.first_byte_seconds);
  call.set_seconds(completion.seconds);
  call.set_finish_reason(completion.finish_reason);
  call.set_error(Bounded(ValidText(completion.message), 4000));
  call.set_raw_reply(Bounded(completion.text, kMaxRawReply));
  call.set_tries(completion.tries);
  return call;
}

v1::ProposeIdeasReply PromptedProvider::ProposeIdeas(const v1::ProposeIdeasRequest& request,
                                                     Cancellation& cancellation) {
  RenderedPrompt prompt = prompts_.ProposeIdeas(request);
  Completion completion = Complete(prompt, request.call(), cancellation);
  v1::ProposeIdeasReply reply;
  *reply.add_calls() = Record(prompt, completion);
  if (!completion.ok()) {
    reply.set_shortfall("model_error: " + reply.calls(0).error());
    return reply;
  }
  if (completion.finish_reason == "refusal") {
    reply.set_shortfall(fmt::format("{} refused to answer", options_.name));
    return reply;
  }
  std::vector<std::string> tried;
  for (const v1::TriedIdea& one : request.tried()) tried.push_back(one.idea().title());
  IdeasReply ideas = ReadIdeas(completion.text, request.count(), tried);
  for (v1::Idea& idea : ideas.ideas) {
    idea.set_origin(options_.name);
    *reply.add_ideas() = std::move(idea);
  }
  if (!ideas.shortfall.empty()) {
    reply.set_shortfall(
        fmt::format("{}: {}{}", options_.name, ideas.shortfall,
                    completion.finish_reason == "length" ? "; the reply ended at its token limit" : ""));
  }
  return reply;
}

v1::Implementation PromptedProvider::Code(const RenderedPrompt& prompt, const Completion& completion, int index) const {
  v1::Implementation implementation;
  implementation.set_index(index);
  *implementation.mutable_call() = Record(prompt, completion);
  if (!completion.ok()) {
    implementation.set_status("model_error");
    implementation.set_message(implementation.call().error());
    return implementation;
  }
  if (completion.finish_reason == "refusal") {
    implementation.set_status("refused");
    implementation.set_message(fmt::format("{} refused: {}", options_.name, OneLine(completion.text, 500)));
    return implementation;
  }
  CodeReply code = ReadCode(completion.text, completion.finish_reason == "length");
  implementation.set_status(code.status);
  implementation.set_source(ValidText(code.source));
  implementation.set_message(code.message);
  return implementation;
}

v1::Implementation PromptedProvider::Implement(const v1::ImplementIdeaRequest& request, int index,
                                               Cancellation& cancellation) {
  RenderedPrompt prompt = prompts_.ImplementIdea(request, index);
  return Code(prompt, Complete(prompt, request.call(), cancellation), index);
}

v1::Implementation PromptedProvider::Repair(const v1::RepairRequest& request, Cancellation& cancellation) {
  RenderedPrompt prompt = prompts_.Repair(request);
  return Code(prompt, Complete(prompt, request.call(), cancellation), 0);
}

}  // namespace warpsmith::gateway
