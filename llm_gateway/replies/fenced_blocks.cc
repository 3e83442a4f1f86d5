#include "llm_gateway/replies/fenced_blocks.h"

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

struct Fence {
  char mark = 0;  // 0: the line is no fence
  size_t length = 0;
  std::string info;
};

Fence FenceOf(std::string_view line) {
  std::string_view text = TrimSpace(line);
  while (!text.empty() && text.front() == '>') text = TrimSpace(text.substr(1));  // quoted
  Fence fence;
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return fence;
  size_t length = text.find_first_not_of(text[0]);
  if (length == text.npos) length = text.size();
  if (length < 3) return fence;
  std::string_view info = TrimSpace(text.substr(length));
  if (info.find('`') != info.npos) return fence;  // ```inline``` code on one line
  fence.mark = text[0];
  fence.length = length;
  fence.info = std::string(info);
  return fence;
}

std::string LanguageOf(const std::string& info) {
  std::string language = AsciiLower(info.substr(0, info.find_first_of(" \t{,:")));
  if (!language.empty() && language[0] == '.') language.erase(0, 1);
  return language;
}

}  // namespace

std::vector<FencedBlock> FindFencedBlocks(std::string_view text) {
  std::vector<FencedBlock> blocks;
  Fence open;
  for (std::string_view line : SplitLines(text)) {
    Fence fence = FenceOf(line);
    if (open.mark == 0) {
      if (fence.mark == 0) continue;
      open = fence;
      blocks.push_back({LanguageOf(fence.info), "", false});
    } else if (fence.mark == open.mark && fence.length >= open.length && fence.info.empty()) {
      blocks.back().closed = true;
      open = {};
    } else if (fence.mark == open.mark && fence.length >= open.length) {
      // A fence with a language inside a block: code never has such a line, so a new block begins.
      open = fence;
      blocks.push_back({LanguageOf(fence.info), "", false});
    } else {
      blocks.back().content.append(line);
      blocks.back().content += '\n';
    }
  }
  return blocks;
}

}  // namespace warpsmith::gateway
