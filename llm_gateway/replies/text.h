// Small text tools for what comes from outside: valid UTF-8, bounded, on one line.
// Threading: pure functions. Units: bytes.
#ifndef WARPSMITH_LLM_GATEWAY_REPLIES_TEXT_H_
#define WARPSMITH_LLM_GATEWAY_REPLIES_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace warpsmith::gateway {

// How much of the text's front is ASCII without NUL: nearly always all of it.
size_t PlainPrefix(std::string_view text);
// Invalid UTF-8 and NUL become U+FFFD: protocol buffers and databases take neither.
std::string ValidText(std::string_view text);
// At most `max_bytes`, cut between characters, with "… [N bytes cut]" where something was.
std::string Bounded(std::string_view text, size_t max_bytes);
// Runs of white space and control characters become one space; bounded.
std::string OneLine(std::string_view text, size_t max_bytes);

std::string_view TrimSpace(std::string_view text);
std::vector<std::string_view> SplitLines(std::string_view text);  // without line ends
std::string AsciiLower(std::string_view text);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_REPLIES_TEXT_H_
