// Sources inside prompts: fenced so that nothing in them ends the fence, shortened at a line's end with a note.
// Threading: pure. Units: bytes.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_FENCED_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_FENCED_H_

#include <string>
#include <string_view>

namespace warpsmith::gateway {

// A fenced block whose fence is longer than any in `text`.
std::string Fenced(std::string_view language, std::string_view text);

// At most `max_bytes` of whole lines, and a last line that says how many lines and bytes are left out.
std::string ShortenedSource(std::string_view source, size_t max_bytes);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_FENCED_H_
