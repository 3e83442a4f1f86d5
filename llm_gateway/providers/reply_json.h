// Reading JSON that a server sent without trusting its shape: a field of another type than promised counts as absent.
// Threading: pure functions.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_REPLY_JSON_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_REPLY_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "common/json.h"

namespace warpsmith::gateway {

// Discarded (neither object nor array) where it is no JSON or nested more than 64 levels deep: what follows recurses.
Json ParseReply(std::string_view text);

// Text, or an integer as text; "" where there is neither.
std::string TextOf(const Json& object, const char* key);
// A count of tokens: 0 where there is none or it makes no sense.
int64_t CountOf(const Json& object, const char* key);
bool HasCount(const Json& object, const char* key);
// A member that is an object or an array; an empty one of that kind otherwise.
const Json& Member(const Json& object, const char* key);
const Json& Items(const Json& object, const char* key);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_REPLY_JSON_H_
