// Replies that should hold ideas: at most as many as asked for, each with a title, bounded, valid text.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "llm_gateway/replies/ideas.h"
#include "llm_gateway/replies/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpsmith::gateway;
  std::string_view reply(reinterpret_cast<const char*>(data), size);
  const IdeasReply ideas = ReadIdeas(reply, 5, {"Use shared memory"});
  FUZZ_CHECK(ideas.ideas.size() <= 5);
  FUZZ_CHECK(ideas.shortfall.empty() == (ideas.ideas.size() == 5));
  for (const warpsmith::v1::Idea& idea : ideas.ideas) {
    FUZZ_CHECK(!idea.title().empty());
    FUZZ_CHECK(idea.ByteSizeLong() < 64 << 10);
    std::string wire, text = idea.title() + idea.category() + idea.hypothesis() + idea.evidence();
    for (const std::string& step : idea.plan()) text += step;
    FUZZ_CHECK(ValidText(text) == text);
    FUZZ_CHECK(idea.SerializeToString(&wire));
  }
  return 0;
}
