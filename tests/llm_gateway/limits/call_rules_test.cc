#include "llm_gateway/limits/call_rules.h"

#include <catch2/catch.hpp>

using namespace warpsmith::gateway;

TEST_CASE("the cap on an answer", "[unit]") {
  ModelConfig config;
  CHECK(OutputCap(config, 0) == 0);
  CHECK(OutputCap(config, 500) == 500);
  CHECK(MostOutput(config, 0) == 0);
  config.max_output_tokens = 1000;
  CHECK(OutputCap(config, 0) == 1000);
  CHECK(OutputCap(config, 500) == 500);
  CHECK(OutputCap(config, 5000) == 1000);
  CHECK(MostOutput(config, 0) == 2000);
  CHECK(MostOutput(config, 500) == 500);
  config.most_output_tokens = 1500;
  CHECK(MostOutput(config, 0) == 1500);
  ModelConfig anthropic;
  anthropic.provider = "anthropic";
  CHECK(OutputCap(anthropic, 0) == 32'000);
  CHECK(MostOutput(anthropic, 0) == 64'000);
}

TEST_CASE("the least cap worth asking with leaves room for thinking", "[unit]") {
  ModelConfig config;
  CHECK(LeastOutput(config, 1000) == 250);
  CHECK(LeastOutput(config, 1) == 1);
  config.thinking_budget = 600;
  CHECK(LeastOutput(config, 2000) == 1624);
  CHECK(LeastOutput(config, 1000) == 1000);
  config.thinking_budget = -1;
  CHECK(LeastOutput(config, 1000) == 250);
}

TEST_CASE("the next lower effort", "[unit]") {
  ModelConfig config;
  CHECK(LowerEffort(config, "high").empty());
  config.efforts = {"low", "medium", "xhigh"};
  config.reasoning_effort = "high";
  CHECK(LowerEffort(config, "xhigh") == "medium");
  CHECK(LowerEffort(config, "medium") == "low");
  CHECK(LowerEffort(config, "low").empty());
  CHECK(LowerEffort(config, "high") == "medium");  // configured, not in the list: by the words
  CHECK(LowerEffort(config, "minimal").empty());
  CHECK(LowerEffort(config, "").empty());
  CHECK(LowerEffort(config, "extreme").empty());
  CHECK(KnowsEffort(config, "high"));
  CHECK_FALSE(KnowsEffort(config, "max"));
}

TEST_CASE("why another model may be asked", "[unit]") {
  using E = ErrorClass;
  Completion completion;
  CHECK(ReasonOf(completion) == FallbackReason::kNone);
  completion.finish_reason = "length";
  CHECK(ReasonOf(completion) == FallbackReason::kNone);
  completion.finish_reason = "refusal";
  CHECK(ReasonOf(completion) == FallbackReason::kRefused);
  for (E error : {E::kConnect, E::kTls, E::kFirstByteTimeout, E::kIdleTimeout, E::kCut, E::kRateLimited, E::kQuota,
                  E::kServer, E::kOverloaded, E::kAuthentication, E::kNotFound, E::kMalformedReply, E::kRedirect,
                  E::kConfiguration, E::kOwnRateLimit, E::kCircuitOpen}) {
    completion.error = error;
    INFO(Name(error));
    CHECK(ReasonOf(completion) == FallbackReason::kUnavailable);
  }
  completion.error = E::kContextLength;
  CHECK(ReasonOf(completion) == FallbackReason::kContext);
  for (E error : {E::kTotalTimeout, E::kInvalidRequest, E::kTooLarge, E::kCancelled, E::kBudget, E::kNotRecorded}) {
    completion.error = error;
    INFO(Name(error));
    CHECK(ReasonOf(completion) == FallbackReason::kNone);
  }
}

TEST_CASE("which failed calls have to be paid for", "[unit]") {
  Completion completion;
  CHECK(MayBeBilledUnseen(completion));  // an answer without a word on tokens
  completion.usage.output = 5;
  CHECK_FALSE(MayBeBilledUnseen(completion));
  completion.error = ErrorClass::kIdleTimeout;
  CHECK_FALSE(MayBeBilledUnseen(completion));  // never sent
  completion.tries = 1;
  CHECK(MayBeBilledUnseen(completion));
  completion.error = ErrorClass::kCancelled;
  CHECK(MayBeBilledUnseen(completion));
  for (ErrorClass refused : {ErrorClass::kConnect, ErrorClass::kRateLimited, ErrorClass::kQuota, ErrorClass::kServer,
                             ErrorClass::kInvalidRequest, ErrorClass::kContextLength}) {
    completion.error = refused;
    CHECK_FALSE(MayBeBilledUnseen(completion));
  }
}
