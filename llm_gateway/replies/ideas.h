// Ideas out of what a model wrote: tolerant of fences, text around, comments, trailing commas, Python's quotes and
// constants, single objects, objects by number, lists without JSON, other names for fields and categories, and answers
// that were cut off (the whole ideas in them count). Threading: pure. Work is bounded whatever the text.
// Errors: none; fewer ideas than asked for come with a sentence that says why.
#ifndef WARPSMITH_LLM_GATEWAY_REPLIES_IDEAS_H_
#define WARPSMITH_LLM_GATEWAY_REPLIES_IDEAS_H_

#include <string>
#include <string_view>
#include <vector>

#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

struct IdeasReply {
  std::vector<v1::Idea> ideas;
  std::string shortfall;  // empty where there are as many as asked for
};

// `tried_titles` are dropped, whatever their case and punctuation; so are repetitions.
IdeasReply ReadIdeas(std::string_view reply, int count, const std::vector<std::string>& tried_titles);

// One of the six categories for what a model calls it; `title` decides where that says nothing.
std::string NormalCategory(std::string_view category, std::string_view title);

// Letters and digits in lower case: two titles that differ only otherwise are one.
std::string TitleKey(std::string_view title);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_REPLIES_IDEAS_H_
