// Ideas that a model wrote without JSON, and JSON as Python would print it, made into JSON for ideas.cc to read.
// Threading: pure. Work is linear in the text.
#ifndef WARPSMITH_LLM_GATEWAY_REPLIES_IDEAS_PROSE_H_
#define WARPSMITH_LLM_GATEWAY_REPLIES_IDEAS_PROSE_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"

namespace warpsmith::gateway {

// 'single' quotes become "double" ones, True, False and None what JSON calls them; inside brackets only.
std::string PythonToJson(std::string_view text);

// Sections of "Title: ...", "Category: ...", "Plan:" with list items below, with Markdown's marks or without; each that
// has a title becomes an object with the fields by name.
std::vector<Json> FindKeyedIdeas(std::string_view text);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_REPLIES_IDEAS_PROSE_H_
