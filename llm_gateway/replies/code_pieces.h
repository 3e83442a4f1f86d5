// What in a reply may be a candidate file, or a part of one: fenced blocks, files between tags or bare in the text,
// JSON strings, plans beside their kernels. Which of it counts is code.h's to say. Threading: pure. Work is bounded
// whatever the text.
#ifndef WARPSMITH_LLM_GATEWAY_REPLIES_CODE_PIECES_H_
#define WARPSMITH_LLM_GATEWAY_REPLIES_CODE_PIECES_H_

#include <string>
#include <string_view>
#include <vector>

namespace warpsmith::gateway {

struct CodePiece {
  std::string text;
  bool closed = false;    // its fence was closed, or it needs none
  bool cut = false;       // known to break off
  bool has_plan = false;  // a plan comment, at its front
  bool has_kernel = false;
  bool is_plan_json = false;  // a plan without its comment
  std::string host_sign;      // why it is host code, or empty
};

struct CodePieces {
  std::vector<CodePiece> pieces;  // in order
  bool diff = false;              // changes to a file stand in the text
};

// `text` as CleanText gives it.
CodePieces FindCodePieces(const std::string& text);

// Valid UTF-8 without NUL, lines that end in LF, no byte order marks, plain spaces: what compilers take.
std::string CleanText(std::string_view text);

// Whether the plan comment at the text's front holds a plan; one that is only spoken of does not.
bool HoldsPlan(std::string_view text);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_REPLIES_CODE_PIECES_H_
