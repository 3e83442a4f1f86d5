#include "llm_gateway/config/secret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "common/file.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxKeyBytes = 8192;
constexpr size_t kShownByServers = 8;  // "Incorrect API key provided: sk-abcde***": a beginning this long is taken out

bool Space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::string Secret::Redact(std::string text) const {
  if (value_.empty()) return text;
  auto replace_all = [&text](const std::string& what) {
    for (size_t at = text.find(what); at != text.npos; at = text.find(what, at))
      text.replace(at, what.size(), "[redacted]");
  };
  replace_all(value_);
  if (value_.size() > 2 * kShownByServers) {
    replace_all(value_.substr(0, kShownByServers));
    // A server that masks the middle still shows the end behind its asterisks.
    std::string end = value_.substr(value_.size() - 4);
    for (size_t at = text.find("*" + end); at != text.npos; at = text.find("*" + end, at))
      text.replace(at + 1, 4, "****");
  }
  return text;
}

absl::StatusOr<Secret> Secret::Check(std::string value, const std::string& source) {
  while (!value.empty() && Space(value.back())) value.pop_back();
  value.erase(0, static_cast<size_t>(std::find_if_not(value.begin(), value.end(), Space) - value.begin()));
  if (value.empty()) return NotFound(fmt::format("{} is empty; put the key there", source));
  bool printable = std::all_of(value.begin(), value.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!printable || value.size() > kMaxKeyBytes) {
    return InvalidArgument(
        fmt::format("{} does not hold one key: a key is one line of at most {} printable characters "
                    "without spaces",
                    source, kMaxKeyBytes));
  }
  Secret secret;
  secret.value_ = std::move(value);
  return secret;
}

absl::StatusOr<Secret> Secret::FromFile(const std::string& path) {
  auto text = ReadFile(path, 64u << 10);
  if (!text.ok()) return Annotate(text.status(), "the key's file");
  return Check(*std::move(text), "the key's file " + path);
}

absl::StatusOr<Secret> Secret::FromEnvironment(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr)
    return NotFound(fmt::format("the environment variable {} is not set; export it before the start", variable));
  return Check(value, "the environment variable " + variable);
}

}  // namespace warpsmith::gateway
