#include "gpu_worker/compile/ptx_statement.h"

#include <algorithm>
#include <cctype>

namespace warpsmith::compile {
namespace {

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}

PtxTokens Tokenize(std::string_view text) {
  PtxTokens tokens;
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    if (std::isspace(static_cast<unsigned char>(c)) || c == '\0') {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else if (c == '"') {
      size_t end = at + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      tokens.push_back(text.substr(at, end - at));
      at = end;
    } else if (IsWordCharacter(c)) {
      size_t end = at;
      while (end < text.size() && IsWordCharacter(text[end])) ++end;
      tokens.push_back(text.substr(at, end - at));
      at = end;
    } else {
      tokens.push_back(text.substr(at++, 1));
    }
  }
  return tokens;
}

bool Contains(const PtxTokens& tokens, std::string_view token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

// Directives that stand on a line without a semicolon.
size_t LineDirectiveLength(const PtxTokens& tokens, size_t at) {
  std::string_view word = tokens[at];
  if (word == ".version" || word == ".address_size") return 2;
  if (word != ".target") return 0;
  size_t length = 2;  // .target sm_89, debug
  while (at + length + 1 < tokens.size() && tokens[at + length] == ",") length += 2;
  return length;
}

}  // namespace

bool IsPtxWord(std::string_view token) { return !token.empty() && IsWordCharacter(token[0]); }

bool IsPtxVariableSpace(std::string_view token) { return token == ".global" || token == ".const"; }

std::vector<PtxTokens> SplitPtx(std::string_view text) {
  PtxTokens tokens = Tokenize(text);
  std::vector<PtxTokens> statements;
  PtxTokens current;
  auto finish = [&] {
    if (!current.empty()) statements.push_back(std::move(current));
    current.clear();
  };
  int operand_braces = 0;
  for (size_t at = 0; at < tokens.size(); ++at) {
    std::string_view token = tokens[at];
    bool header = Contains(current, ".entry") || Contains(current, ".func");
    if (operand_braces > 0) {
      operand_braces += token == "{" ? 1 : (token == "}" ? -1 : 0);
      current.push_back(token);
    } else if (token == ";" || token == "}") {
      finish();
    } else if (token == "{") {
      if (header) current.push_back(token);
      if (current.empty() || header) {
        finish();
      } else {
        operand_braces = 1;
        current.push_back(token);
      }
    } else if (token == ":" && current.size() == 1) {
      current.clear();  // a label
    } else if (current.empty() && LineDirectiveLength(tokens, at) > 0) {
      at += LineDirectiveLength(tokens, at) - 1;
    } else {
      current.push_back(token);
    }
  }
  finish();
  return statements;
}

std::vector<PtxTokens> SplitOperands(const PtxTokens& tokens, size_t begin) {
  std::vector<PtxTokens> operands(1);
  int depth = 0;
  for (size_t i = begin; i < tokens.size(); ++i) {
    std::string_view token = tokens[i];
    if (token == "{" || token == "[" || token == "(") ++depth;
    if (token == "}" || token == "]" || token == ")") --depth;
    if (token == "," && depth == 0) {
      operands.emplace_back();
    } else {
      operands.back().push_back(token);
    }
  }
  return operands;
}

}  // namespace warpsmith::compile
