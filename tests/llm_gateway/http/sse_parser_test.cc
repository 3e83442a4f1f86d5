#include "llm_gateway/http/sse_parser.h"

#include <catch2/catch.hpp>
#include <vector>

namespace warpsmith::gateway {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events ParseSplit(const std::string& text, const std::vector<size_t>& cuts) {
  Events events;
  SseParser parser([&](const SseEvent& event) { events.emplace_back(event.type, event.data); });
  size_t at = 0;
  for (size_t cut : cuts) {
    REQUIRE(parser.Feed(text.substr(at, cut - at)).ok());
    at = cut;
  }
  REQUIRE(parser.Feed(text.substr(at)).ok());
  REQUIRE(parser.Finish().ok());
  return events;
}

const Events kExpected = {{"", "{\"a\": 1}"}, {"delta", "one\ntwo\n"}, {"", " spaced"}, {"", "x:y"}, {"", ""},
                          {"", "last"}};

std::string Stream(const std::string& end) {
  std::string text =
      "\xEF\xBB\xBF: comment\n:\ndata: {\"a\": 1}\n\nevent: delta\nid: 7\ndata: one\ndata:two\ndata\n\nretry: 10\n\n\n"
      "data:  spaced\nunknown: field\n\ndata:x:y\n\ndata\n\ndata: last\n\n";
  std::string out;
  for (char c : text) out += c == '\n' ? end : std::string(1, c);
  return out;
}

TEST_CASE("an event stream is the same wherever it is cut and however lines end", "[unit]") {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string text = Stream(end);
    CHECK(ParseSplit(text, {}) == kExpected);
    for (size_t a = 0; a <= text.size(); ++a) REQUIRE(ParseSplit(text, {a}) == kExpected);
    for (size_t a = 0; a <= text.size(); a += 3) {
      for (size_t b = a; b <= text.size(); b += 2) REQUIRE(ParseSplit(text, {a, b}) == kExpected);
    }
    std::vector<size_t> all;
    for (size_t i = 1; i < text.size(); ++i) all.push_back(i);
    CHECK(ParseSplit(text, all) == kExpected);
  }
}

TEST_CASE("line ends may be mixed", "[unit]") {
  CHECK(ParseSplit("data: a\r\ndata: b\n\rdata: c\r\r\n", {}) == Events{{"", "a\nb"}, {"", "c"}});
}

TEST_CASE("the last event needs no blank line", "[unit]") {
  CHECK(ParseSplit("data: [DONE]", {}) == Events{{"", "[DONE]"}});
  CHECK(ParseSplit("data: [DONE]\n", {}) == Events{{"", "[DONE]"}});
  CHECK(ParseSplit("event: nothing\n", {}).empty());
  CHECK(ParseSplit("", {}).empty());
}

TEST_CASE("an event over the cap ends the stream with an error", "[unit]") {
  int events = 0;
  SseParser parser([&](const SseEvent&) { ++events; }, 1000);
  CHECK(parser.Feed("data: " + std::string(900, 'x') + "\n\n").ok());
  CHECK(events == 1);
  absl::Status status = parser.Feed("data: " + std::string(2000, 'x'));
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK_FALSE(parser.Feed("data: x\n\n").ok());
  CHECK(events == 1);

  SseParser many_lines([&](const SseEvent&) { ++events; }, 1000);
  status = absl::OkStatus();
  for (int i = 0; i < 100 && status.ok(); ++i) status = many_lines.Feed("data: " + std::string(50, 'y') + "\n");
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(events == 1);

  SseParser one_mebibyte([](const SseEvent&) {});
  CHECK(one_mebibyte.Feed("data: " + std::string((1 << 20) - 100, 'z')).ok());
  CHECK_FALSE(one_mebibyte.Feed(std::string(200, 'z')).ok());
}

}  // namespace
}  // namespace warpsmith::gateway
