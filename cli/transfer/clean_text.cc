#include "cli/transfer/clean_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "cli/text.h"

namespace warpsmith::transfer {
namespace {

constexpr std::array<std::string_view, 5> kFolders = {"/home/", "/root/", "/tmp/", "/Users/", "/var/lib/"};

struct KeyForm {
  std::string_view prefix;
  size_t least;  // characters behind it
};
constexpr std::array<KeyForm, 8> kKeys = {{{"sk-", 20},
                                           {"AIza", 30},
                                           {"ghp_", 30},
                                           {"github_pat_", 30},
                                           {"hf_", 30},
                                           {"AKIA", 16},
                                           {"Bearer ", 20},
                                           {"xai-", 30}}};

bool IsKeyCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}
bool IsPathCharacter(char c) { return IsKeyCharacter(c) || c == '/' || c == '+' || c == '~'; }

}  // namespace

std::string WithoutPaths(std::string_view given) {
  const std::string text = cli::ValidUtf8(given) ? std::string(given) : cli::Block(given);
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    // A path begins where no other name ends.
    const bool begins = at == 0 || (!IsPathCharacter(text[at - 1]));
    const bool path =
        begins && std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) {
          return rest.starts_with(folder) && rest.size() > folder.size() && IsKeyCharacter(rest[folder.size()]);
        });
    if (!path) {
      result += text[at++];
      continue;
    }
    while (at < text.size() && IsPathCharacter(text[at])) ++at;
    result += "[path]";
  }
  return result;
}

bool LooksSecret(std::string_view text) {
  if (text.find("-----BEGIN ") != std::string_view::npos && text.find("PRIVATE KEY-----") != std::string_view::npos) {
    return true;
  }
  for (const KeyForm& form : kKeys) {
    for (size_t at = text.find(form.prefix); at != std::string_view::npos; at = text.find(form.prefix, at + 1)) {
      if (at > 0 && IsKeyCharacter(text[at - 1])) continue;
      size_t length = 0, digits = 0;
      for (size_t i = at + form.prefix.size(); i < text.size() && IsKeyCharacter(text[i]); ++i, ++length) {
        digits += std::isdigit(static_cast<unsigned char>(text[i])) != 0 ? 1 : 0;
      }
      // A key has digits in it; words with hyphens do not.
      if (length >= form.least && digits >= 2) return true;
    }
  }
  return false;
}

}  // namespace warpsmith::transfer
