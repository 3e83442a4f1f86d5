// A candidate file as tokens: comments and layout gone, the plan apart.
// Threading: pure. The views point into the source.
#ifndef WARPSMITH_COORDINATOR_STORE_SOURCE_TOKENS_H_
#define WARPSMITH_COORDINATOR_STORE_SOURCE_TOKENS_H_

#include <optional>
#include <string_view>
#include <vector>

namespace warpsmith::store {

enum class TokenKind { kWord, kNumber, kLiteral, kPunctuation, kPreprocessor };

struct Token {
  TokenKind kind = TokenKind::kPunctuation;
  std::string_view text;
};

struct TokenizedSource {
  std::string_view plan;  // the JSON of the plan comment
  std::vector<Token> tokens;
};

// None where the text has no plan comment in front, or holds what only a compiler can read: raw strings, a comment that
// begins on a preprocessor line and ends on another one.
std::optional<TokenizedSource> Tokenize(std::string_view source);

// Each word of any text.
std::vector<std::string_view> WordsOf(std::string_view text);

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_SOURCE_TOKENS_H_
