// JSON as models write it: objects and arrays found inside other text, with comments and trailing commas.
// Threading: pure. Work is bounded whatever the text.
#ifndef WARPSMITH_LLM_GATEWAY_REPLIES_LENIENT_JSON_H_
#define WARPSMITH_LLM_GATEWAY_REPLIES_LENIENT_JSON_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"

namespace warpsmith::gateway {

// One value, after taking out comments, trailing commas, and line ends inside strings.
std::optional<Json> ParseLenientJson(std::string_view text);

// Every object or array that begins in `text` and is whole, outermost ones only, in order. Where an outer one is cut
// off, the whole ones inside it are found.
std::vector<Json> FindJsonValues(std::string_view text);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_REPLIES_LENIENT_JSON_H_
