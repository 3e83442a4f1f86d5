#include "gpu_worker/compile/ptx_writes.h"

#include <algorithm>
#include <array>

namespace warpsmith::compile {
namespace {

constexpr int kMaxPasses = 16;

// Instructions whose result is an address if an operand is one, and that write no memory.
constexpr std::array kArithmetic = {"mov",  "cvta", "add", "sub",  "mad",  "mul",  "shl",  "shr",  "selp", "cvt",
                                    "and",  "or",   "xor", "not",  "min",  "max",  "neg",  "abs",  "bfe",  "bfi",
                                    "prmt", "lop3", "shf", "addc", "subc", "madc", "slct", "mapa", "shfl"};
// Instructions that only read what their operands name, with a result that is not an address.
constexpr std::array kReads = {"ld", "ldu", "prefetch", "prefetchu", "set", "setp", "isspacep"};

std::string_view BaseOf(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

template <typename Table>
bool In(const Table& table, std::string_view word) {
  return std::find(table.begin(), table.end(), word) != table.end();
}

}  // namespace

PtxWrites::Variables PtxWrites::Mentioned(const PtxTokens& operand) const {
  Variables found;
  for (std::string_view token : operand) {
    if (auto variable = index_.find(token); variable != index_.end()) found.insert(variable->second);
    if (auto tainted = registers_.find(token); tainted != registers_.end()) {
      found.insert(tainted->second.begin(), tainted->second.end());
    }
  }
  return found;
}

void PtxWrites::MarkWritable(const Variables& variables) { writable_.insert(variables.begin(), variables.end()); }

void PtxWrites::Declare(const PtxTokens& statement) {
  size_t at = 0;
  while (at < statement.size() && !IsPtxVariableSpace(statement[at])) ++at;
  for (++at; at < statement.size(); ++at) {  // attributes and type
    std::string_view token = statement[at];
    if (token == ".align") {
      ++at;
    } else if (token == ".attribute") {
      while (at < statement.size() && statement[at] != ")") ++at;
    } else if (token == "[") {  // the bank of old constants
      while (at < statement.size() && statement[at] != "]") ++at;
    } else if (token[0] != '.') {
      break;
    }
  }
  for (const PtxTokens& declarator : SplitOperands(statement, at)) {
    if (declarator.empty()) continue;
    auto [where, added] = index_.emplace(std::string(declarator[0]), static_cast<int>(names_.size()));
    if (added) names_.emplace_back(declarator[0]);
    // name<8> declares eight variables under other names.
    if (declarator.size() > 1 && declarator[1] == "<") writable_.insert(where->second);
    // An initialiser that holds an address: loads of it are not followed.
    PtxTokens rest(declarator.begin() + 1, declarator.end());
    MarkWritable(Mentioned(rest));
  }
}

void PtxWrites::Define(std::string_view function) {
  if (auto found = readers_.find(function); found != readers_.end()) readers_.erase(found);
}

bool PtxWrites::Step(const PtxTokens& statement) {
  size_t at = 0;
  if (!statement.empty() && statement[0] == "@") at = statement.size() > 1 && statement[1] == "!" ? 3 : 2;
  if (at >= statement.size()) return false;
  std::string_view opcode = statement[at];
  if (opcode[0] == '.' && !IsPtxVariableSpace(opcode)) {
    // Declarations and hints, but for tables of addresses that branches use.
    MarkWritable(Mentioned(statement));
    return false;
  }
  if (IsPtxVariableSpace(opcode)) return false;
  std::string_view base = BaseOf(opcode);
  std::vector<PtxTokens> operands = SplitOperands(statement, at + 1);
  Variables sources;
  for (size_t i = 1; i < operands.size(); ++i) {
    Variables more = Mentioned(operands[i]);
    sources.insert(more.begin(), more.end());
  }
  if (base == "call") {
    bool reads_only =
        std::any_of(statement.begin(), statement.end(), [&](auto token) { return readers_.count(token); });
    for (std::string_view token : statement) {
      auto argument = arguments_.find(token);
      if (argument == arguments_.end()) continue;
      if (!reads_only) MarkWritable(argument->second);
      arguments_.erase(argument);
    }
    MarkWritable(Mentioned(statement));
    return false;
  }
  if (opcode.substr(0, 8) == "st.param" && !operands.empty() && operands[0].size() > 1) {
    MarkWritable(Mentioned(operands[0]));
    if (!sources.empty()) arguments_[operands[0][1]].insert(sources.begin(), sources.end());
    return false;
  }
  if (In(kReads, base)) return false;
  if (base == "cp") {  // copies: the first operand is written, the others are read
    MarkWritable(operands.empty() ? Variables{} : Mentioned(operands[0]));
    return false;
  }
  if (!In(kArithmetic, base)) {
    MarkWritable(Mentioned(statement));
    return false;
  }
  bool learned = false;
  if (sources.empty() || operands[0].empty()) return false;
  for (std::string_view destination : operands[0]) {
    if (!IsPtxWord(destination)) continue;
    Variables& held = registers_[destination];
    size_t before = held.size();
    held.insert(sources.begin(), sources.end());
    learned |= held.size() != before;
  }
  return learned;
}

void PtxWrites::Function(const std::vector<PtxTokens>& body) {
  if (names_.empty()) return;
  registers_.clear();
  bool learned = true;
  for (int pass = 0; learned && pass < kMaxPasses; ++pass) {
    learned = false;
    arguments_.clear();
    for (const PtxTokens& statement : body) learned |= Step(statement);
    for (auto& [name, variables] : arguments_) MarkWritable(variables);
  }
  if (!learned) return;
  // Not settled after so many passes: nobody writes such code for a good reason.
  for (auto& [name, variables] : registers_) MarkWritable(variables);
}

std::vector<std::string> PtxWrites::Writable() const {
  std::vector<std::string> found;
  for (int index : writable_) found.push_back(names_[index]);
  return found;
}

}  // namespace warpsmith::compile
