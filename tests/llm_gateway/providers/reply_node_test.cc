#include "llm_gateway/providers/reply_node.h"

#include <catch2/catch.hpp>

namespace warpsmith::gateway {
namespace {

TEST_CASE("members of any type are read, and absent ones are empty", "[unit]") {
  const ReplyNode node = ParseReplyNode(
      R"({"text": "a\u00e9\n", "whole": 7, "large": 18446744073709551615, "half": 0.5, "less": -1, "yes": true,
          "null": null, "list": [{"x": 1}, "two"], "object": {"inner": {"count": 3}}, "none": {}})");
  REQUIRE(node.is_object());
  CHECK_FALSE(node.empty());
  CHECK(node["text"].is_text());
  CHECK(node["text"].text() == "a\xC3\xA9\n");
  CHECK(node.TextAt("text") == "a\xC3\xA9\n");
  CHECK(node.TextAt("whole") == "7");
  CHECK(node.TextAt("large") == "18446744073709551615");
  CHECK(node.TextAt("half").empty());
  CHECK(node.TextAt("list").empty());
  CHECK(node.CountAt("whole") == 7);
  CHECK(node.CountAt("half") == 0);
  CHECK(node.HasCountAt("half"));
  CHECK_FALSE(node.HasCountAt("less"));
  CHECK_FALSE(node.HasCountAt("large"));
  CHECK_FALSE(node.HasCountAt("text"));
  CHECK(node["yes"].is_true());
  CHECK_FALSE(node["whole"].is_true());
  CHECK(node["null"].present());
  CHECK(node["null"].is_null());
  REQUIRE(node["list"].items().size() == 2);
  CHECK(node["list"].items()[0].CountAt("x") == 1);
  CHECK(node["list"].items()[1].text() == "two");
  CHECK(node["object"]["inner"].CountAt("count") == 3);
  CHECK(node["none"].empty());
  CHECK(node["object"].ToJson() == Json::parse(R"({"inner": {"count": 3}})"));

  const ReplyNode absent = node["absent"];
  CHECK_FALSE(absent.present());
  CHECK(absent.empty());
  CHECK(absent.items().empty());
  CHECK(absent["deeper"]["still"].TextAt("x").empty());
  CHECK(absent.text().empty());
  CHECK(absent.ToJson().is_null());
  CHECK(node["text"]["of a text"].TextAt("x").empty());
}

TEST_CASE("what is no JSON is not there", "[unit]") {
  for (const char* text :
       {"", " ", "{", "{\"a\": 1,}", "[1 2]", "nul", "{\"a\": \"\x01\"}", "\"\xFF\"", "\"\\ud800\"", "{} {}", "NaN"}) {
    INFO(text);
    CHECK_FALSE(ParseReplyNode(text).present());
  }
  CHECK(ParseReplyNode("7").present());
  CHECK(ParseReplyNode(std::string(64, '[') + std::string(64, ']')).is_array());
  CHECK_FALSE(ParseReplyNode(std::string(80, '[') + std::string(80, ']')).present());
  CHECK_FALSE(ParseReplyNode(std::string(1'000'000, '[')).present());
}

TEST_CASE("large and small texts after each other", "[unit]") {
  const std::string large(3'000'000, 'x');
  for (int i = 0; i < 3; ++i) {
    CHECK(ParseReplyNode("{\"t\": \"" + large + "\"}")["t"].text().size() == large.size());
    CHECK(ParseReplyNode("{\"t\": \"small\"}")["t"].text() == "small");
  }
}

TEST_CASE("text that protocol buffers take is told from what they do not", "[unit]") {
  CHECK(IsValidText(""));
  CHECK(IsValidText("a\xC3\xA9"));
  CHECK_FALSE(IsValidText(std::string_view("a\0b", 3)));
  CHECK_FALSE(IsValidText("a\xC3"));
}

}  // namespace
}  // namespace warpsmith::gateway
