#include "gpu_worker/plan/source_lexer.h"

#include <algorithm>
#include <string>

namespace warpsmith::plan {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
// Bytes above ASCII and "$" belong to identifiers for every compiler that we use.
bool IsIdentifierCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || IsDigit(c) ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

}  // namespace

size_t SourceLexer::Skip(size_t position) const {
  while (At(position) == '\\') {
    if (At(position + 1) == '\n') {
      position += 2;
    } else if (At(position + 1) == '\r' && At(position + 2) == '\n') {
      position += 3;
    } else {
      break;
    }
  }
  return position;
}

char SourceLexer::PeekSecond() {
  size_t first = Skip(at_);
  return first < code_.size() ? At(Skip(first + 1)) : '\0';
}

char SourceLexer::Take() {
  size_t position = Skip(at_);
  if (position >= code_.size()) {
    at_ = code_.size();
    return '\0';
  }
  line_ += static_cast<int>(std::count(code_.begin() + at_, code_.begin() + position + 1, '\n'));
  at_ = position + 1;
  return code_[position];
}

bool SourceLexer::AtNewline() {
  char c = Peek();
  return c == '\n' || (c == '\r' && PeekSecond() == '\n');
}

void SourceLexer::LineComment() {
  while (Skip(at_) < code_.size() && !AtNewline()) Take();
}

void SourceLexer::BlockComment(std::string* text) {
  char last = 0;
  while (Skip(at_) < code_.size()) {
    char c = Take();
    if (last == '*' && c == '/') return;
    if (text->size() < 80 && !(text->empty() && (IsSpace(c) || c == '\n'))) text->push_back(c);
    last = c;
  }
}

void SourceLexer::Quoted(char quote) {
  while (Skip(at_) < code_.size() && !AtNewline()) {
    char c = Take();
    if (c == quote) return;
    if (c == '\\' && !AtNewline()) Take();
  }
}

// After the opening quote. A delimiter that is none makes it an ordinary string.
void SourceLexer::RawString() {
  size_t open = at_;
  while (open < code_.size() && open - at_ <= 16 && code_[open] != '(') {
    char c = code_[open];
    if (IsSpace(c) || c == '\n' || c == ')' || c == '\\' || c == '"') break;
    ++open;
  }
  if (At(open) != '(') return Quoted('"');
  std::string end = ")" + std::string(code_.substr(at_, open - at_)) + "\"";
  size_t close = code_.find(end, open + 1);
  close = close == std::string_view::npos ? code_.size() : close + end.size();
  line_ += static_cast<int>(std::count(code_.begin() + at_, code_.begin() + close, '\n'));
  at_ = close;
}

void SourceLexer::Header(std::string* text) {
  char close = Take() == '<' ? '>' : '"';
  while (Skip(at_) < code_.size() && !AtNewline()) {
    char c = Take();
    if (c == close) return;
    text->push_back(c);
  }
  text->push_back('\n');  // not closed: no header is called so
}

void SourceLexer::Number(std::string* text) {
  while (true) {
    char c = Peek();
    if (IsIdentifierCharacter(c) || c == '.') {
      text->push_back(Take());
      char next = Peek();
      if ((c == 'e' || c == 'E' || c == 'p' || c == 'P') && (next == '+' || next == '-')) text->push_back(Take());
    } else if (c == '\'' && IsIdentifierCharacter(PeekSecond())) {
      Take();
    } else {
      return;
    }
  }
}

bool SourceLexer::Next(Token* token) {
  while (IsSpace(Peek()) && !AtNewline()) Take();
  if (Skip(at_) >= code_.size()) return false;
  token->text.clear();
  token->line = line_ + static_cast<int>(std::count(code_.begin() + at_, code_.begin() + Skip(at_), '\n'));
  token->starts_line = line_start_;
  char c = Peek();
  if (AtNewline()) {
    if (Take() == '\r') Take();
    token->kind = TokenKind::kNewline;
    line_start_ = true;
    directive_ = Directive::kNone;
    return true;
  }
  if (c == '/' && (PeekSecond() == '/' || PeekSecond() == '*')) {
    token->kind = TokenKind::kComment;
    Take();
    if (Take() == '/') {
      LineComment();
    } else {
      BlockComment(&token->text);
    }
    return true;
  }
  line_start_ = false;
  const Directive directive = directive_;
  directive_ = Directive::kNone;
  if (directive == Directive::kHeader && (c == '<' || c == '"')) {
    token->kind = TokenKind::kHeader;
    Header(&token->text);
    return true;
  }
  if (IsDigit(c) || (c == '.' && IsDigit(PeekSecond()))) {
    token->kind = TokenKind::kNumber;
    Number(&token->text);
    return true;
  }
  if (IsIdentifierCharacter(c)) {
    token->kind = TokenKind::kIdentifier;
    while (IsIdentifierCharacter(Peek())) token->text.push_back(Take());
    const std::string& word = token->text;
    char next = Peek();
    if (next == '"' && (word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR")) {
      token->kind = TokenKind::kLiteral;
      Take();
      RawString();
    } else if ((next == '"' || next == '\'') && (word == "u8" || word == "u" || word == "U" || word == "L")) {
      token->kind = TokenKind::kLiteral;
      Quoted(Take());
    } else if (directive == Directive::kHash &&
               (word == "include" || word == "include_next" || word == "import" || word == "embed")) {
      directive_ = Directive::kHeader;
    }
    if (token->kind == TokenKind::kLiteral) token->text.clear();
    return true;
  }
  Take();
  if (c == '"' || c == '\'') {
    token->kind = TokenKind::kLiteral;
    Quoted(c);
    return true;
  }
  token->kind = TokenKind::kPunctuation;
  if (c == '%' && Peek() == ':') {
    Take();
    c = '#';
  }
  if (c == '#' && token->starts_line) directive_ = Directive::kHash;
  token->text.assign(1, c);
  return true;
}

}  // namespace warpsmith::plan
