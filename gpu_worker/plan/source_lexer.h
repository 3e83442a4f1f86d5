// Splits CUDA C++ into preprocessing tokens as a compiler's first phases do: line splices joined (not in raw strings),
// comments, strings, raw strings, characters, numbers with digit separators, header names. Knows no macros.
// Threading: one lexer, one thread. Never fails: what is left open ends at its line's or the file's end.
// Source of the method: ISO C++, phases of translation.
#ifndef WARPSMITH_GPU_WORKER_PLAN_SOURCE_LEXER_H_
#define WARPSMITH_GPU_WORKER_PLAN_SOURCE_LEXER_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace warpsmith::plan {

enum class TokenKind { kIdentifier, kNumber, kLiteral, kPunctuation, kHeader, kComment, kNewline };

struct Token {
  TokenKind kind = TokenKind::kNewline;
  // Identifiers, numbers and headers (without their brackets or quotes) in full, punctuation one character ("#" for its
  // digraph too), block comments their first 80 characters after white space; else empty.
  std::string text;
  int line = 1;              // where it starts
  bool starts_line = false;  // nothing but white space and comments before it on its logical line
};

class SourceLexer {
 public:
  // `code` must outlive the lexer.
  explicit SourceLexer(std::string_view code) : code_(code) {}

  // False at the end. Every logical line but an unfinished last one ends with a kNewline.
  bool Next(Token* token);

 private:
  char Peek() { return At(Skip(at_)); }
  char PeekSecond();
  char Take();                         // 0 at the end
  size_t Skip(size_t position) const;  // past line splices
  char At(size_t position) const { return position < code_.size() ? code_[position] : '\0'; }
  bool AtNewline();
  void LineComment();
  void BlockComment(std::string* text);
  void Quoted(char quote);
  void RawString();
  void Header(std::string* text);
  void Number(std::string* text);

  enum class Directive { kNone, kHash, kHeader };
  std::string_view code_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  Directive directive_ = Directive::kNone;
};

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_SOURCE_LEXER_H_
