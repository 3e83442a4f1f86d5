// The fenced blocks of a Markdown reply, read as models write them: indented and quoted fences (what stands before the
// fence is taken off each line), fences of backticks or tildes, a new block opened before the last was closed, a
// closing fence behind the code on its line, a last block that never ends. Threading: pure. Source of the method:
// CommonMark's fenced code blocks, with the tolerance named.
#ifndef WARPSMITH_LLM_GATEWAY_REPLIES_FENCED_BLOCKS_H_
#define WARPSMITH_LLM_GATEWAY_REPLIES_FENCED_BLOCKS_H_

#include <string>
#include <string_view>
#include <vector>

namespace warpsmith::gateway {

struct FencedBlock {
  std::string language;  // lower case, the first word after the fence
  std::string content;
  bool closed = false;
};

std::vector<FencedBlock> FindFencedBlocks(std::string_view text);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_REPLIES_FENCED_BLOCKS_H_
