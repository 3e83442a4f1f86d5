#include "coordinator/store/source_tokens.h"

#include <algorithm>
#include <cctype>

namespace warpsmith::store {
namespace {

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Longest first.
constexpr std::string_view kOperators[] = {
    "<<=", ">>=", "...", "->*", "<=>", "->", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&",
    "||",  "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "##", ".*"};

class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  std::optional<TokenizedSource> Run() {
    TokenizedSource result;
    while (at_ < source_.size() && IsSpace(source_[at_])) ++at_;
    if (!Starts("/*")) return std::nullopt;
    const size_t end = source_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view comment = source_.substr(at_ + 2, end - at_ - 2);
    while (!comment.empty() && IsSpace(comment.front())) comment.remove_prefix(1);
    constexpr std::string_view kMark = "warpsmith-plan";
    if (comment.substr(0, kMark.size()) != kMark) return std::nullopt;
    result.plan = comment.substr(kMark.size());
    at_ = end + 2;
    bool line_start = true;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') line_start = true;
      if (IsSpace(c)) {
        ++at_;
        continue;
      }
      if (Starts("//")) {
        at_ = LineEnd();
        continue;
      }
      if (Starts("/*")) {
        const size_t close = source_.find("*/", at_ + 2);
        if (close == std::string_view::npos) return std::nullopt;
        at_ = close + 2;
        continue;
      }
      const size_t begin = at_;
      TokenKind kind = TokenKind::kPunctuation;
      if (c == '#' && line_start) {
        kind = TokenKind::kPreprocessor;
        at_ = LineEnd();
        const std::string_view line = source_.substr(begin, at_ - begin);
        if (line.find("/*") != std::string_view::npos) return std::nullopt;
      } else if (IsDigit(c) || (c == '.' && at_ + 1 < source_.size() && IsDigit(source_[at_ + 1]))) {
        kind = TokenKind::kNumber;
        Number();
      } else if (IsWordChar(c)) {
        kind = TokenKind::kWord;
        while (at_ < source_.size() && IsWordChar(source_[at_])) ++at_;
        // A prefix of a literal: u8"x", R"(x)".
        if (at_ < source_.size() && source_[at_] == '"' && source_[at_ - 1] == 'R') return std::nullopt;
      } else if (c == '"' || c == '\'') {
        kind = TokenKind::kLiteral;
        if (!Literal(c)) return std::nullopt;
      } else {
        const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                         [&](std::string_view symbol) { return Starts(symbol); });
        at_ += found == std::end(kOperators) ? 1 : found->size();
      }
      line_start = false;
      result.tokens.push_back({kind, source_.substr(begin, at_ - begin)});
    }
    return result;
  }

 private:
  bool Starts(std::string_view what) const { return source_.substr(at_, what.size()) == what; }

  // A backslash at the end carries a line on.
  size_t LineEnd() const {
    size_t end = at_;
    while (end < source_.size()) {
      if (source_[end] == '\n') {
        size_t before = end;
        while (before > at_ && source_[before - 1] == '\r') --before;
        if (before == at_ || source_[before - 1] != '\\') break;
      }
      ++end;
    }
    return end;
  }

  void Number() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      const char before = at_ > 0 ? source_[at_ - 1] : ' ';
      const bool exponent =
          (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && at_ + 1 < source_.size() && IsWordChar(source_[at_ + 1]);
      if (!IsWordChar(c) && c != '.' && !exponent && !separator) return;
      ++at_;
    }
  }

  bool Literal(char quote) {
    ++at_;
    while (at_ < source_.size() && source_[at_] != quote) {
      if (source_[at_] == '\n') return false;
      at_ += source_[at_] == '\\' ? 2 : 1;
    }
    if (at_ >= source_.size()) return false;
    ++at_;
    return true;
  }

  const std::string_view source_;
  size_t at_ = 0;
};

}  // namespace

std::optional<TokenizedSource> Tokenize(std::string_view source) { return Scanner(source).Run(); }

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    if (!IsWordChar(text[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && IsWordChar(text[at])) ++at;
    if (!IsDigit(text[begin])) words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

}  // namespace warpsmith::store
