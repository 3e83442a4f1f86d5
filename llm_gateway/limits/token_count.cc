#include "llm_gateway/limits/token_count.h"

#include <array>
#include <string>

namespace warpsmith::gateway {
namespace {

constexpr int64_t kMessageTokens = 8;  // role and separators around a message
constexpr int64_t kPromptTokens = 16;  // what a provider puts around a prompt

enum Kind : unsigned char { kLower = 1, kUpper = 2, kDigit = 4, kSpace = 8 };

// A prompt of a hundred thousand characters is counted for each call, so a character costs one look.
constexpr std::array<unsigned char, 256> kKinds = [] {
  std::array<unsigned char, 256> kinds{};
  for (size_t c = 'a'; c <= 'z'; ++c) kinds[c] = kLower;
  for (size_t c = 'A'; c <= 'Z'; ++c) kinds[c] = kUpper;
  for (size_t c = '0'; c <= '9'; ++c) kinds[c] = kDigit;
  for (unsigned char c : {' ', '\t', '\n', '\r'}) kinds[c] = kSpace;
  return kinds;
}();

template <unsigned kWanted>
bool Is(unsigned char c) {
  return (kKinds[c] & kWanted) != 0;
}
constexpr auto IsLower = Is<kLower>;
constexpr auto IsUpper = Is<kUpper>;
constexpr auto IsDigit = Is<kDigit>;
constexpr auto IsSpace = Is<kSpace>;
constexpr auto IsAlphanumeric = Is<kLower | kUpper | kDigit>;

int64_t Ceiling(size_t length, size_t part) { return static_cast<int64_t>((length + part - 1) / part); }

template <unsigned kWanted>
size_t RunEnd(std::string_view text, size_t from) {
  while (from < text.size() && Is<kWanted>(static_cast<unsigned char>(text[from]))) ++from;
  return from;
}

// Base64, hashes and the like, which hold no words to merge: long, or changing between cases and digits all the time.
bool IsScrambled(std::string_view run) {
  if (run.size() < 12) return false;
  size_t changes = 0;
  for (size_t i = 1; i < run.size(); ++i) {
    unsigned char last = static_cast<unsigned char>(run[i - 1]), c = static_cast<unsigned char>(run[i]);
    if ((IsLower(last) && IsUpper(c)) || IsDigit(last) != IsDigit(c)) ++changes;
  }
  return run.size() > 24 || 4 * changes > run.size();
}

// Letters of one case by fours, the first capital with what follows it; more capitals by twos; digits one by one.
int64_t CountAlphanumeric(std::string_view run) {
  if (IsScrambled(run)) return static_cast<int64_t>(run.size());
  int64_t tokens = 0;
  for (size_t i = 0; i < run.size();) {
    size_t capitals = RunEnd<kUpper>(run, i);
    if (capitals - i > 1) {
      tokens += Ceiling(capitals - i, 2);
      i = capitals;
    }
    size_t end = RunEnd<kLower>(run, capitals);
    tokens += Ceiling(end - i, 4);
    i = RunEnd<kDigit>(run, end);
    tokens += static_cast<int64_t>(i - end);
  }
  return tokens;
}

}  // namespace

// The text falls into runs, as byte-pair tokenizers split it before they merge, and each run counts at what a poor
// merge leaves of it; digits alone, since some tokenizers never merge them; other ASCII signs one by one save for long
// rows of one sign; everything beyond ASCII a token a byte. A space before a word is part of the word's token; before
// a digit it is not.
int64_t EstimateTokens(std::string_view text) {
  int64_t tokens = 0;
  size_t i = 0;
  while (i < text.size()) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    size_t end = i + 1;
    if (IsAlphanumeric(c)) {
      end = RunEnd<kLower | kUpper | kDigit>(text, i);
      tokens += CountAlphanumeric(text.substr(i, end - i));
    } else if (IsSpace(c)) {
      end = RunEnd<kSpace>(text, i);
      bool one_space = c == ' ' && end - i == 1 && end < text.size();
      if (!one_space || IsDigit(static_cast<unsigned char>(text[end]))) {
        // New lines, and indentations, which merge.
        size_t lines = 0;
        for (size_t at = i; at < end; ++at) lines += text[at] == '\n' ? 1 : 0;
        tokens += static_cast<int64_t>(lines) + Ceiling(end - i - lines, 4);
      }
    } else {
      while (end < text.size() && text[end] == text[i]) ++end;
      size_t length = end - i;
      tokens += c < 0x80 && length > 4 ? 2 + Ceiling(length, 4) : static_cast<int64_t>(length);
    }
    i = end;
  }
  return tokens;
}

int64_t EstimatePromptTokens(const PromptRequest& request) {
  int64_t tokens = kPromptTokens;
  for (const PromptMessage& message : request.messages) {
    tokens += kMessageTokens + message.text.Measured(&EstimateTokens);
  }
  if (!request.schema.is_null()) tokens += EstimateTokens(request.schema.dump()) + EstimateTokens(request.schema_name);
  return tokens;
}

}  // namespace warpsmith::gateway
