// PTX text as statements of tokens: comments dropped, split at semicolons, braces and labels.
// Threading: pure; tokens refer to the text.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_PTX_STATEMENT_H_
#define WARPSMITH_GPU_WORKER_COMPILE_PTX_STATEMENT_H_

#include <string_view>
#include <vector>

namespace warpsmith::compile {

using PtxTokens = std::vector<std::string_view>;

// A function's header (".visible .entry f(...) {") is a statement of its own, as is each variable and instruction; it
// ends with a brace where a body follows.
// Braces that belong to an operand or an initialiser stay inside their statement.
std::vector<PtxTokens> SplitPtx(std::string_view text);

// The operands of an instruction or the values of a list: `tokens` from `begin`, split at commas outside brackets.
std::vector<PtxTokens> SplitOperands(const PtxTokens& tokens, size_t begin);

bool IsPtxWord(std::string_view token);

// ".global" or ".const": the state spaces of module variables.
bool IsPtxVariableSpace(std::string_view token);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_PTX_STATEMENT_H_
