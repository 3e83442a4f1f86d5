// What a model writes stays text.
#include "cli/report/html.h"

#include <catch2/catch.hpp>

#include "cli/report/html_table.h"
#include "cli/report/page.h"

namespace warpsmith::cli::report {
namespace {

TEST_CASE("markup, controls and what turns the reading order come out as text", "[unit]") {
  CHECK(Escape("<b a=\"1\" c='2'>&") == "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
  CHECK(Escape("a\nb\tc\r\nd") == "a b c d");
  CHECK(EscapeBlock("a\nb\tc\r\nd\re") == "a\nb\tc\nd\ne");
  CHECK(Escape("\x1b[31m\x7f") == "[U+001B][31m[U+007F]");
  CHECK(Escape("\xE2\x80\xAE"
               "x"
               "\xE2\x81\xA9") == "[U+202E]x[U+2069]");
  CHECK(Escape("a\xE2\x80\x8B\xEF\xBB\xBF") == "a[U+200B][U+FEFF]");
  CHECK(Escape("\xF3\xA0\x81\xA1") == "[U+E0061]");
  CHECK(Escape(std::string_view("a\0b", 3)) == "a[U+0000]b");
  CHECK(Escape("naïve × 三 😀") == "naïve × 三 😀");
}

TEST_CASE("broken UTF-8 becomes U+FFFD and swallows nothing", "[unit]") {
  CHECK(Escape("\xC3<") == "\uFFFD&lt;");
  CHECK(Escape("\xFF\xFE") == "\uFFFD\uFFFD");
  CHECK(Escape("\xE2\x80") == "\uFFFD\uFFFD");
  CHECK(Escape("\xC0\xBC") == "\uFFFD\uFFFD");            // an overlong '<'
  CHECK(Escape("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");  // half of a surrogate pair
  CHECK(Escape("\xF4\x90\x80\x80x") == "\uFFFD\uFFFD\uFFFD\uFFFDx");
}

TEST_CASE("text is cut between characters, and how much is told", "[unit]") {
  CHECK(Cut("×××", 3) == "×××");
  CHECK(Cut("××××", 3) == "×××…");
  CHECK(CutCounted("short", 5) == "short");
  CHECK(CutCounted(std::string(2000, 'x'), 10) == "xxxxxxxxxx… (1,990 more characters)");
  CHECK(CutCounted("××××", 3) == "×××… (1 more characters)");
  CHECK(Thousands(0) == "0");
  CHECK(Thousands(999) == "999");
  CHECK(Thousands(13'500) == "13,500");
  CHECK(Thousands(1'234'567) == "1,234,567");
  CHECK(Thousands(-1'234) == "-1,234");
}

TEST_CASE("attributes are quoted and empty ones left out", "[unit]") {
  Html html;
  html.Element("td", "x", {{"class", ""}, {"title", "\"><script>"}});
  CHECK(html.text() == "<td title=\"&quot;&gt;&lt;script&gt;\">x</td>");
}

TEST_CASE("a page loads nothing and runs only its own script", "[unit]") {
  Html body;
  body.Text("{{script}} {{style}}");
  const std::string page = Page("a </title> b", body);
  CHECK(page.find("<title>a &lt;/title&gt; b</title>") != std::string::npos);
  CHECK(page.find("{{script}} {{style}}") != std::string::npos);  // slots are the frame's, not the body's
  const size_t policy =
      page.find("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-");
  CHECK(policy != std::string::npos);
  CHECK(page.find("unsafe") == std::string::npos);
  CHECK(page.find("http:") == std::string::npos);
  CHECK(page.find("https:") == std::string::npos);
  CHECK(page.find(" style=\"") == std::string::npos);  // the policy would refuse it
  CHECK(page.find("@import") == std::string::npos);
  CHECK(page.find("url(") == std::string::npos);
}

}  // namespace
}  // namespace warpsmith::cli::report
