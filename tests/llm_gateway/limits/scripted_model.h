// A model for tests: answers as the test says and keeps what it was asked. No network. Threading: safe from any thread.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_LIMITS_SCRIPTED_MODEL_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_LIMITS_SCRIPTED_MODEL_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "llm_gateway/limits/guarded_model.h"

namespace warpsmith::gateway {

class ScriptedModel final : public ModelProvider {
 public:
  using Answer = std::function<Completion(const PromptRequest&, Cancellation&)>;

  explicit ScriptedModel(Answer otherwise) : otherwise_(std::move(otherwise)) {}
  void Next(Completion completion) {
    next_.push_back([completion](const PromptRequest&, Cancellation&) { return completion; });
  }

  Completion Complete(const PromptRequest& request, const DeltaCallback& on_delta,
                      Cancellation& cancellation) override {
    Answer answer;
    {
      std::lock_guard lock(mutex_);
      asked_.push_back(request);
      if (next_.empty()) {
        answer = otherwise_;
      } else {
        answer = std::move(next_.front());
        next_.pop_front();
      }
    }
    Completion completion = answer(request, cancellation);
    if (on_delta && !completion.text.empty()) on_delta(DeltaKind::kText, completion.text);
    return completion;
  }

  std::vector<PromptRequest> asked() const {
    std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  const Answer otherwise_;
  mutable std::mutex mutex_;
  std::deque<Answer> next_;
  std::vector<PromptRequest> asked_;
};

inline Completion Answered(int64_t input, int64_t output, std::string finish_reason = "stop",
                           std::string text = "text") {
  Completion completion;
  completion.text = std::move(text);
  completion.finish_reason = std::move(finish_reason);
  completion.usage.input = input;
  completion.usage.output = output;
  completion.tries = 1;
  return completion;
}

inline Completion Failed(ErrorClass error, int tries = 1) {
  Completion completion;
  completion.error = error;
  completion.finish_reason = "error";
  completion.message = "the model failed";
  completion.tries = tries;
  return completion;
}

// Models by name, each with limits of its own, all at $1 a million tokens in and $10 out.
class Models {
 public:
  struct One {
    explicit One(Clock& clock, const RateLimits& limits)
        : model([](const PromptRequest&, Cancellation&) { return Answered(100, 200); }),
          limiter(limits, clock),
          circuit(CircuitPolicy{3, std::chrono::seconds(30), std::chrono::seconds(600)}, clock) {}
    ScriptedModel model;
    RateLimiter limiter;
    CircuitBreaker circuit;
    GuardedEndpoint endpoint;
  };

  One& Add(const std::string& name, const RateLimits& limits = {}) {
    auto one = std::make_unique<One>(clock, limits);
    one->endpoint.config.name = name;
    one->endpoint.config.place = "gateway.yaml:3: models[0]";
    one->endpoint.config.max_output_tokens = 1000;
    Price price;
    price.input = price.cached_input = price.cache_write_5m = price.cache_write_1h = 1;
    price.output = price.reasoning = 10;
    one->endpoint.price = price;
    one->endpoint.price_id = "2026-11-29";
    one->endpoint.model = &one->model;
    one->endpoint.limiter = &one->limiter;
    one->endpoint.circuit = &one->circuit;
    One& added = *one;
    models_[name] = std::move(one);
    return added;
  }

  GuardedModel Guard(const std::string& name, CallBudget* day = nullptr) {
    return GuardedModel(
        name,
        [this](const std::string& wanted) -> const GuardedEndpoint* {
          auto found = models_.find(wanted);
          return found == models_.end() ? nullptr : &found->second->endpoint;
        },
        day, clock);
  }

  FakeClock clock;

 private:
  std::map<std::string, std::unique_ptr<One>> models_;
};

inline PromptRequest Ask(CallBudget* budget = nullptr) {
  PromptRequest request;
  request.messages.push_back({"user", "Write a kernel.", false});
  request.budget = budget;
  return request;
}

inline Completion Run(GuardedModel& model, const PromptRequest& request) {
  Cancellation cancellation;
  return model.Complete(request, nullptr, cancellation);
}

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_LIMITS_SCRIPTED_MODEL_H_
