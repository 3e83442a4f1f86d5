#include "gpu_worker/compile/ptx.h"

#include <cxxabi.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <set>

#include "gpu_worker/compile/ptx_statement.h"
#include "gpu_worker/compile/ptx_writes.h"

namespace warpsmith::compile {
namespace {

using plan::KernelParameter;
using plan::ParameterKind;

struct ScalarType {
  ParameterKind kind;
  int32_t size;
};

const std::map<std::string_view, ScalarType>& ScalarTypes() {
  static const auto& types = *new std::map<std::string_view, ScalarType>{
      {".u8", {ParameterKind::kInteger, 1}},  {".s8", {ParameterKind::kInteger, 1}},
      {".b8", {ParameterKind::kInteger, 1}},  {".u16", {ParameterKind::kInteger, 2}},
      {".s16", {ParameterKind::kInteger, 2}}, {".b16", {ParameterKind::kUnknown, 2}},
      {".f16", {ParameterKind::kFloat, 2}},   {".u32", {ParameterKind::kInteger, 4}},
      {".s32", {ParameterKind::kInteger, 4}}, {".b32", {ParameterKind::kUnknown, 4}},
      {".f32", {ParameterKind::kFloat, 4}},   {".f64", {ParameterKind::kFloat, 8}},
      {".u64", {ParameterKind::kUnknown, 8}}, {".s64", {ParameterKind::kUnknown, 8}},
      {".b64", {ParameterKind::kUnknown, 8}}};
  return types;
}

int32_t ToInteger(std::string_view word) {
  int32_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() ? value : 0;
}

// ".param .align 8 .b8 name[16]"; `name` takes the parameter's name.
KernelParameter ReadParameter(const PtxTokens& tokens, std::string_view& name) {
  KernelParameter parameter;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (auto type = ScalarTypes().find(tokens[i]); type != ScalarTypes().end()) {
      parameter.kind = type->second.kind;
      parameter.size = type->second.size;
    } else if (tokens[i] == ".ptr") {
      parameter.kind = ParameterKind::kPointer;
    } else if (tokens[i] == ".align") {
      ++i;
    } else if (tokens[i] == "[" && i + 1 < tokens.size()) {
      parameter.size = ToInteger(tokens[i + 1]);
      bool scalar_sized = parameter.size == 2 || parameter.size == 1 || parameter.size == 4 || parameter.size == 8;
      parameter.kind = scalar_sized ? ParameterKind::kUnknown : ParameterKind::kStruct;
      break;
    } else if (tokens[i][0] != '.') {
      name = tokens[i];
    }
  }
  return parameter;
}

struct Function {
  bool entry = false;
  bool defined = false;  // it has a body
  std::string_view name;
  PtxEntry parsed;
  std::vector<std::string_view> parameter_names;
  std::vector<PtxTokens> body;
};

Function ReadHeader(const PtxTokens& statement) {
  Function function;
  size_t at = 0;
  while (at < statement.size() && statement[at] != ".entry" && statement[at] != ".func") ++at;
  function.entry = at < statement.size() && statement[at] == ".entry";
  ++at;
  if (at < statement.size() && statement[at] == "(") {  // a .func's result
    while (at < statement.size() && statement[at] != ")") ++at;
    ++at;
  }
  if (at >= statement.size()) return function;
  function.name = statement[at];
  function.defined = statement.back() == "{";
  function.parsed.symbol = statement[at];
  PtxTokens list;
  for (++at; at < statement.size() && statement[at] != ")"; ++at) {
    if (statement[at] != "(") list.push_back(statement[at]);
  }
  for (const PtxTokens& tokens : SplitOperands(list, 0)) {
    if (tokens.empty()) continue;
    std::string_view name;
    function.parsed.parameters.push_back(ReadParameter(tokens, name));
    function.parameter_names.push_back(name);
  }
  return function;
}

// An 8-byte parameter that is loaded and converted to a global address is a pointer.
void FindPointersByUse(Function& function) {
  std::map<std::string_view, size_t> loaded;  // register to parameter
  for (const PtxTokens& statement : function.body) {
    if (statement.size() < 4) continue;
    if (statement[0].substr(0, 8) == "ld.param" && statement[3] == "[" && statement.size() > 5 && statement[5] == "]") {
      for (size_t i = 0; i < function.parameter_names.size(); ++i) {
        if (function.parameter_names[i] == statement[4]) loaded[statement[1]] = i;
      }
    } else if (statement[0].substr(0, 14) == "cvta.to.global") {
      auto found = loaded.find(statement[3]);
      if (found == loaded.end()) continue;
      KernelParameter& parameter = function.parsed.parameters[found->second];
      if (parameter.kind == ParameterKind::kUnknown && parameter.size == 8) parameter.kind = ParameterKind::kPointer;
    }
  }
}

// The mangled name of a C++ kernel lists its parameters' types.
void FindKindsByName(PtxEntry& entry) {
  if (entry.symbol.substr(0, 2) != "_Z" || entry.symbol.size() > 4096) return;
  int status = 0;
  char* text = abi::__cxa_demangle(entry.symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : "";
  std::free(text);
  if (name.empty() || name.back() != ')') return;
  size_t open = name.size();
  int depth = 0;
  while (open > 0) {
    --open;
    depth += name[open] == ')' ? 1 : (name[open] == '(' ? -1 : 0);
    if (depth == 0) break;
  }
  std::vector<std::string> types(1);
  for (size_t i = open + 1; i + 1 < name.size(); ++i) {
    char c = name[i];
    depth += (c == '<' || c == '(' || c == '[') - (c == '>' || c == ')' || c == ']');
    if (c == ',' && depth == 0) {
      types.emplace_back();
    } else if (c != ' ' || !types.back().empty()) {
      types.back() += c;
    }
  }
  if (types.size() != entry.parameters.size()) return;
  static const std::set<std::string>& integers =
      *new std::set<std::string>{"long", "unsigned long", "long long", "unsigned long long"};
  for (size_t i = 0; i < types.size(); ++i) {
    KernelParameter& parameter = entry.parameters[i];
    if (parameter.kind != ParameterKind::kUnknown || types[i].empty()) continue;
    if (parameter.size == 8 && (types[i].back() == '*' || types[i].find("* ") != std::string::npos)) {
      parameter.kind = ParameterKind::kPointer;
    } else if (parameter.size == 8 && integers.count(types[i]) != 0) {
      parameter.kind = ParameterKind::kInteger;
    } else if (parameter.size == 2 && (types[i] == "__half" || types[i] == "__nv_bfloat16")) {
      parameter.kind = ParameterKind::kFloat;
    }
  }
}

}  // namespace

PtxModule ReadPtx(std::string_view text) {
  PtxModule module;
  PtxWrites writes;
  std::vector<Function> functions(1);  // the first holds what stands before any function
  for (PtxTokens& statement : SplitPtx(text)) {
    bool header = false, variable = false;
    for (std::string_view token : statement) {
      if (token[0] != '.') break;
      header |= token == ".entry" || token == ".func";
      variable |= IsPtxVariableSpace(token);
    }
    if (header) {
      functions.push_back(ReadHeader(statement));
    } else if (variable) {
      writes.Declare(statement);
    } else {
      functions.back().body.push_back(std::move(statement));
    }
  }
  for (Function& function : functions) {
    if (function.defined) writes.Define(function.name);
  }
  for (Function& function : functions) {
    writes.Function(function.body);
    if (!function.entry) continue;
    FindKindsByName(function.parsed);
    FindPointersByUse(function);
    module.entries.push_back(std::move(function.parsed));
  }
  module.writable_variables = writes.Writable();
  return module;
}

}  // namespace warpsmith::compile
