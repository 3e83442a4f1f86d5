#include "llm_gateway/replies/fenced_blocks.h"

#include <algorithm>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

struct Fence {
  char mark = 0;  // 0: the line is no fence
  size_t length = 0;
  size_t indent = 0;  // white space before it
  int quotes = 0;     // ">" before it
  std::string info;
};

// Takes white space and at most `quotes` marks of a quotation off the front.
int TakeQuotes(std::string_view& text, int quotes) {
  int taken = 0;
  while (taken < quotes) {
    std::string_view rest = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
    if (rest.empty() || rest.front() != '>') break;
    rest.remove_prefix(1);
    if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    text = rest;
    ++taken;
  }
  return taken;
}

Fence FenceOf(std::string_view line) {
  Fence fence;
  fence.quotes = TakeQuotes(line, 8);
  fence.indent = std::min(line.find_first_not_of(" \t"), line.size());
  std::string_view text = TrimSpace(line);
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

// The indentation of a block's fence off its lines, where each of them has it.
void Unindent(std::string& content, size_t indent) {
  if (indent == 0) return;
  std::string out;
  for (std::string_view line : SplitLines(content)) {
    size_t blank = std::min(line.find_first_not_of(" \t"), line.size());
    if (blank < indent && blank < line.size()) return;
    out.append(line.substr(std::min(blank, indent))).append("\n");
  }
  content = std::move(out);
}

// "}```": code with the closing fence at its end.
bool EndsInFence(std::string_view content, const Fence& open) {
  std::string_view text = TrimSpace(content);
  const std::string marks(open.length, open.mark);
  if (text.size() <= marks.size() || text.substr(text.size() - marks.size()) != marks) return false;
  char before = text[text.size() - marks.size() - 1];
  return before == '}' || before == ';' || before == '/';
}

std::string LanguageOf(const std::string& info) {
  std::string language = AsciiLower(info.substr(0, info.find_first_of(" \t{,:")));
  if (!language.empty() && language[0] == '.') language.erase(0, 1);
  return language;
}

std::string_view Unquoted(std::string_view line, const Fence& open) {
  TakeQuotes(line, open.quotes);
  return line;
}

// The text ended within a closing fence: what there is of it is no code.
void DropBeginOfFence(std::string& content, char mark) {
  size_t end = content.find_last_not_of(" \n");
  if (end == content.npos || content[end] != mark) return;
  size_t begin = content.find_last_not_of(mark, end);
  if (begin != content.npos && content[begin] == '\n') content.resize(begin + 1);
}

}  // namespace

std::vector<FencedBlock> FindFencedBlocks(std::string_view text) {
  std::vector<FencedBlock> blocks;
  if (text.find("```") == text.npos && text.find("~~~") == text.npos) return blocks;
  Fence open;
  auto end = [&](bool closed) {
    if (!closed) DropBeginOfFence(blocks.back().content, open.mark);
    Unindent(blocks.back().content, open.indent);
    blocks.back().closed = closed;
    open = {};
  };
  for (std::string_view line : SplitLines(text)) {
    Fence fence = FenceOf(line);
    if (open.mark == 0) {
      if (fence.mark == 0) continue;
      open = fence;
      blocks.push_back({LanguageOf(fence.info), "", false});
    } else if (fence.mark == open.mark && fence.length >= open.length && fence.info.empty()) {
      end(true);
    } else if (fence.mark == open.mark && fence.length >= open.length) {
      // A fence with a language inside a block: code never has such a line, so a new block begins.
      end(false);
      open = fence;
      blocks.push_back({LanguageOf(fence.info), "", false});
    } else if (std::string_view content = Unquoted(line, open); EndsInFence(content, open)) {
      content = content.substr(0, content.find_last_not_of(" \t") + 1);
      blocks.back().content.append(content.substr(0, content.size() - open.length)).append("\n");
      end(true);
    } else {
      blocks.back().content.append(content).append("\n");
    }
  }
  if (open.mark != 0) end(false);
  return blocks;
}

}  // namespace warpsmith::gateway
