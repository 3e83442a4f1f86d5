#include "llm_gateway/retry/rate_headers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <string>

namespace warpsmith::gateway {
namespace {

constexpr double kLongestSpan = 1e8;  // seconds: above it is nonsense that must not overflow

std::optional<int64_t> Integer(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool Digit(char c) { return c >= '0' && c <= '9'; }

// Digits with an optional fraction, taken off the front.
std::optional<double> TakeNumber(std::string_view& text) {
  size_t end = 0, dots = 0;
  while (end < text.size() && (Digit(text[end]) || (text[end] == '.' && dots == 0))) dots += text[end++] == '.';
  if (end == dots || end > 20) return std::nullopt;
  double value = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + end, value, std::chars_format::fixed);
  if (error != std::errc() || rest != text.data() + end) return std::nullopt;
  text.remove_prefix(end);
  return value;
}

// Exactly `count` digits, then `after` where it is not 0.
std::optional<int> TakeDigits(std::string_view& text, size_t count, char after) {
  if (text.size() < count + (after != 0 ? 1 : 0)) return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!Digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  if (after != 0) {
    if (text.front() != after) return std::nullopt;
    text.remove_prefix(1);
  }
  return value;
}

struct Bucket {
  int64_t limit = -1;
  int64_t remaining = -1;
  std::string reset;
};

Bucket BucketOf(const HttpHeaders& headers, const std::string& kind) {
  auto read = [&](const std::string& what) {
    std::string openai = FindHeader(headers, "x-ratelimit-" + what + "-" + kind);
    return openai.empty() ? FindHeader(headers, "anthropic-ratelimit-" + kind + "-" + what) : openai;
  };
  Bucket bucket;
  std::optional<int64_t> limit = Integer(read("limit")), remaining = Integer(read("remaining"));
  // Some servers send -1 or 0 for what they do not know: a limit of nothing is none, and nothing is left of it.
  if (limit && *limit <= 0) return bucket;
  bucket.limit = limit.value_or(-1);
  bucket.remaining = std::max<int64_t>(remaining.value_or(-1), -1);
  bucket.reset = read("reset");
  return bucket;
}

std::optional<Duration> ResetOf(const Bucket& bucket, int64_t wall_micros) {
  if (std::optional<Duration> span = ParseSpan(bucket.reset)) return span;
  std::optional<int64_t> instant = ParseRfc3339(bucket.reset);
  if (!instant) return std::nullopt;
  return FromSeconds(std::clamp(1e-6 * static_cast<double>(*instant - wall_micros), 0.0, kLongestSpan));
}

}  // namespace

std::optional<Duration> ParseSpan(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  while (!text.empty()) {
    std::optional<double> value = TakeNumber(text);
    if (!value) return std::nullopt;
    double unit = 1;
    if (text.rfind("ms", 0) == 0) {
      unit = 1e-3;
      text.remove_prefix(2);
    } else if (text.rfind("us", 0) == 0 || text.rfind("ns", 0) == 0) {
      unit = text[0] == 'u' ? 1e-6 : 1e-9;
      text.remove_prefix(2);
    } else if (!text.empty()) {
      const std::string_view units = "dhms";
      const double seconds_of[] = {86400, 3600, 60, 1};
      size_t at = units.find(text.front());
      if (at == units.npos) return std::nullopt;
      unit = seconds_of[at];
      text.remove_prefix(1);
    }
    seconds += *value * unit;
  }
  return FromSeconds(std::min(seconds, kLongestSpan));
}

std::optional<int64_t> ParseRfc3339(std::string_view text) {
  auto year = TakeDigits(text, 4, '-'), month = TakeDigits(text, 2, '-'), day = TakeDigits(text, 2, 0);
  if (!year || !month || !day || text.empty() || (text[0] != 'T' && text[0] != 't' && text[0] != ' ')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  auto hour = TakeDigits(text, 2, ':'), minute = TakeDigits(text, 2, ':'), second = TakeDigits(text, 2, 0);
  if (!hour || !minute || !second || *month < 1 || *month > 12 || *day < 1 || *day > 31 || *hour > 23 || *minute > 59 ||
      *second > 60) {
    return std::nullopt;
  }
  double fraction = 0;
  if (!text.empty() && text[0] == '.') {
    std::string_view digits = text;
    auto value = TakeNumber(digits);
    if (!value) return std::nullopt;
    fraction = *value;
    text = digits;
  }
  int offset = 0;  // seconds east of UTC
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    int sign = text[0] == '+' ? 1 : -1;
    text.remove_prefix(1);
    auto hours = TakeDigits(text, 2, ':'), minutes = TakeDigits(text, 2, 0);
    if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    offset = sign * (*hours * 3600 + *minutes * 60);
  } else if (!text.empty() && (text[0] == 'Z' || text[0] == 'z')) {
    text.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  tm parts{};
  parts.tm_year = *year - 1900;
  parts.tm_mon = *month - 1;
  parts.tm_mday = *day;
  parts.tm_hour = *hour;
  parts.tm_min = *minute;
  parts.tm_sec = *second;
  return (static_cast<int64_t>(timegm(&parts)) - offset) * 1'000'000 + static_cast<int64_t>(fraction * 1e6);
}

ServerLimits ParseServerLimits(const HttpHeaders& headers) {
  Bucket requests = BucketOf(headers, "requests"), tokens = BucketOf(headers, "tokens");
  if (tokens.limit < 0 && tokens.remaining < 0) tokens = BucketOf(headers, "input-tokens");
  return {requests.limit, tokens.limit, requests.remaining, tokens.remaining};
}

std::optional<Duration> ParseReset(const HttpHeaders& headers, int64_t wall_micros) {
  std::optional<Duration> used_up, tokens, requests;
  for (const char* kind : {"requests", "tokens", "input-tokens", "output-tokens"}) {
    Bucket bucket = BucketOf(headers, kind);
    std::optional<Duration> reset = ResetOf(bucket, wall_micros);
    if (!reset) continue;
    std::optional<Duration>& longest =
        bucket.remaining == 0 ? used_up : (std::string_view(kind) == "requests" ? requests : tokens);
    longest = std::max(longest.value_or(Duration()), *reset);
  }
  if (used_up) return used_up;
  return tokens ? tokens : requests;
}

}  // namespace warpsmith::gateway
