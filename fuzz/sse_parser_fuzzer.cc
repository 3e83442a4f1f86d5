// Event streams: the same events however the stream is cut, and never more kept than the cap.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/check.h"
#include "llm_gateway/http/sse_parser.h"

namespace {

using Events = std::vector<std::pair<std::string, std::string>>;
constexpr size_t kCap = 4096;

// Cut into pieces whose sizes come from `cuts`, over and over, with nothing in between; whole where there are none.
std::pair<Events, bool> Parse(std::string_view stream, std::string_view cuts) {
  Events events;
  warpsmith::gateway::SseParser parser(
      [&](const warpsmith::gateway::SseEvent& event) {
        FUZZ_CHECK(event.data.size() + event.type.size() <= kCap);
        events.emplace_back(event.type, event.data);
      },
      kCap);
  bool ok = true;
  for (size_t at = 0, i = 0; at < stream.size() && ok; ++i) {
    const size_t size = cuts.empty() ? stream.size() : 1 + static_cast<unsigned char>(cuts[i % cuts.size()]) % 17;
    const std::string piece(stream.substr(at, size));  // of its own, so that reading past its end is seen
    ok = parser.Feed("").ok() && parser.Feed(piece).ok();
    at += size;
  }
  ok = ok && parser.Finish().ok();
  return {std::move(events), ok};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t head = std::min<size_t>(input.size(), 4);
  const std::string_view cuts = input.substr(0, head), stream = input.substr(head);
  const auto [whole, whole_ok] = Parse(stream, {});
  const auto [cut, cut_ok] = Parse(stream, cuts);
  FUZZ_CHECK(whole_ok == cut_ok);
  FUZZ_CHECK(whole == cut);
  return 0;
}
