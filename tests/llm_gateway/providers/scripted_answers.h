// What the tests of the providers' formats have in common: the text that their good answers give, scenarios made of
// a good answer with something changed, and what the server was sent. Threading: one thread.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_SCRIPTED_ANSWERS_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_SCRIPTED_ANSWERS_H_

#include <string>

#include "common/json.h"
#include "tests/llm_gateway/support/fake_model_server.h"

namespace warpsmith::gateway {

inline const char kAnswerText[] = "The answer, with \xC3\xA9 in it, long enough for several events.";

// One action for ever: a good answer, changed by `more`.
inline Json GoodBut(const Json& more) {
  Json action = {{"text", kAnswerText}};
  action.update(more);
  return Json::array({action});
}

// `first`, then good answers.
inline Json ThenGood(const Json& first) { return Json::array({first, {{"text", kAnswerText}}}); }

inline Json LastBody(const FakeModelServer& server, const std::string& scenario) {
  return server.RequestsOf(scenario).back()["body"];
}

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_SCRIPTED_ANSWERS_H_
