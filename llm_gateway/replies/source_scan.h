// Looking at CUDA or Python text without being fooled by comments and strings.
// Threading: pure functions.
#ifndef WARPSMITH_LLM_GATEWAY_REPLIES_SOURCE_SCAN_H_
#define WARPSMITH_LLM_GATEWAY_REPLIES_SOURCE_SCAN_H_

#include <string>
#include <string_view>
#include <vector>

namespace warpsmith::gateway {

// C++ text with comments, string and character literals blanked out (line ends kept).
std::string CodeOnly(std::string_view source);

struct Balance {
  bool even = false;        // every bracket closes and no comment is left open
  bool surplus = false;     // a bracket closes that none had opened: no text cut off has that, prose does
  size_t last_top_end = 0;  // one past the last "}" (and its ";") outside all brackets; without any: past the last ";"
};
Balance CheckBalance(std::string_view code_only, std::string_view source);

// Where "/* warpsmith-plan" comments begin.
std::vector<size_t> FindPlanComments(std::string_view text);

bool HasKernel(std::string_view code_only);  // __global__
// Why the text is host code, or empty: launches, main(), PyTorch's C++ headers, a Python module.
std::string HostCodeSign(std::string_view source);
// The same, where `code`, CodeOnly(source), is there already.
std::string HostCodeSign(std::string_view source, std::string_view code);

// One past the end of the plan comment that begins at `at`; npos where it does not end.
size_t PlanCommentEnd(std::string_view text, size_t at);

// &lt; &gt; &amp; &quot; &#39; &#x27; &nbsp; undone, where the text is escaped as a whole (no plain "<" is left in it);
// twice, where it was escaped twice.
std::string UndoHtmlEscapes(std::string text);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_REPLIES_SOURCE_SCAN_H_
