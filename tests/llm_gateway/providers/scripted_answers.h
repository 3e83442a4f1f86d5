// What the tests of the providers' formats have in common: the text that their good answers give, and scenarios made of
// a good answer with something changed. Threading: pure.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_SCRIPTED_ANSWERS_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_SCRIPTED_ANSWERS_H_

#include "common/json.h"

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

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_SCRIPTED_ANSWERS_H_
