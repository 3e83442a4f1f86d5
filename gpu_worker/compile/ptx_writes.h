// Follows the addresses of module variables through PTX code to find those that may be written. Constant memory has no
// instruction that stores to it, but inline PTX can take a constant's address, as an address of global memory or a
// generic one, and store there; where the hardware lets that pass, it is state like any other.
// The analysis ignores the order of instructions: a register that ever holds an address derived from a variable counts
// as such everywhere in its function. So it can call a variable writable that is not, never the other way round.
// Threading: one analysis a thread. Source: the PTX ISA's instruction chapters.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_PTX_WRITES_H_
#define WARPSMITH_GPU_WORKER_COMPILE_PTX_WRITES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_worker/compile/ptx_statement.h"

namespace warpsmith::compile {

class PtxWrites {
 public:
  // `.global` and `.const` declarations, wherever they stand.
  void Declare(const PtxTokens& statement);
  // A function that has a body. printf and assert are known to read their arguments only, unless they are defined anew.
  void Define(std::string_view function);
  // All statements of one function's body.
  void Function(const std::vector<PtxTokens>& body);
  std::vector<std::string> Writable() const;

 private:
  using Variables = std::set<int>;

  Variables Mentioned(const PtxTokens& operand) const;
  bool Step(const PtxTokens& statement);  // true where it learned something
  void MarkWritable(const Variables& variables);

  std::map<std::string, int, std::less<>> index_;
  std::vector<std::string> names_;
  std::set<int> writable_;
  std::map<std::string_view, Variables> registers_;  // of the function at hand
  std::map<std::string_view, Variables> arguments_;  // stored for the call that follows
  std::set<std::string, std::less<>> readers_ = {"vprintf", "__assertfail"};
};

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_PTX_WRITES_H_
