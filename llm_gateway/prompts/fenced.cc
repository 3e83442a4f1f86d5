#include "llm_gateway/prompts/fenced.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {

std::string Fenced(std::string_view language, std::string_view text) {
  size_t longest = 2, run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool ended = !text.empty() && text.back() == '\n';
  return fmt::format("{}{}\n{}{}{}", fence, language, text, ended ? "" : "\n", fence);
}

std::string ShortenedSource(std::string_view source, size_t max_bytes) {
  if (source.size() <= max_bytes) return std::string(source);
  const size_t line_end = source.rfind('\n', max_bytes);
  // A file of one endless line is cut inside it.
  std::string text = line_end == source.npos ? Bounded(source, max_bytes) : std::string(source.substr(0, line_end + 1));
  const std::string_view rest = source.substr(line_end == source.npos ? max_bytes : line_end + 1);
  if (text.back() != '\n') text += '\n';
  return text +
         fmt::format("// [shortened: {} more lines, {} bytes, are left out]\n", SplitLines(rest).size(), rest.size());
}

}  // namespace warpsmith::gateway
