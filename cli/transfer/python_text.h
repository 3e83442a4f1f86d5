// Python source out of texts, and a plan's integer expressions as Python and as C++.
// Threading: pure functions. Errors: none; expressions are those that a plan's parser has taken.
#ifndef WARPSMITH_CLI_TRANSFER_PYTHON_TEXT_H_
#define WARPSMITH_CLI_TRANSFER_PYTHON_TEXT_H_

#include <map>
#include <string>
#include <string_view>

namespace warpsmith::transfer {

// A string literal in one line.
std::string PythonString(std::string_view text);
// A text of several lines, with a newline at its end: raw between triple quotes where that can say it, else a literal a
// line.
std::string PythonBlock(std::string_view text);

// What a plan's names are in the generated code: "sm_count" -> "run.sm_count", "TILE" -> "64", "t" -> "t".
using PythonNames = std::map<std::string, std::string>;

// Divisions truncate as the plan has them; `exact`: a remainder is an error, as in a grid.
std::string PythonExpression(std::string_view expression, const PythonNames& names, bool exact = false);
// The same as C++, in 64 bits, with functions of cuda/launcher.h.
std::string CudaExpression(std::string_view expression, const PythonNames& names, bool exact = false);

// A name for a local variable that is neither a word of Python's nor one that the generated code uses.
std::string PythonVariable(const std::string& name, int depth);

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_PYTHON_TEXT_H_
