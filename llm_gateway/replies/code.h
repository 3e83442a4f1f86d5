// A candidate file out of what a model wrote: the last whole file outside its thinking. What is tolerated: text around,
// missing or wrong language tags, indented, quoted and nested fences, tags instead of fences, CR LF, HTML escapes, a
// plan in JSON of its own beside the kernels, a plan comment that is not first, code in a JSON string, typographic
// quotes in the plan. What is not: a file cut off, host code, a diff. The file that comes out is valid UTF-8 without
// NUL, begins with its plan comment and has LF line ends. Threading: pure. Work is bounded whatever the text. Errors: a
// status and a sentence, for people and for the record.
#ifndef WARPSMITH_LLM_GATEWAY_REPLIES_CODE_H_
#define WARPSMITH_LLM_GATEWAY_REPLIES_CODE_H_

#include <string>
#include <string_view>

namespace warpsmith::gateway {

struct CodeReply {
  std::string status;   // ok, no_code, truncated, host_code
  std::string source;   // where status is ok; lines end in LF
  std::string message;  // where it is not
};

// `cut_by_limit`: the reply ended at its token limit.
CodeReply ReadCode(std::string_view reply, bool cut_by_limit);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_REPLIES_CODE_H_
