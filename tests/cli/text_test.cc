#include "cli/text.h"

#include <catch2/catch.hpp>
#include <limits>

namespace warpsmith::cli {

TEST_CASE("nothing that a model wrote can steer a terminal", "[unit]") {
  CHECK(Line("a\x1b[31mb\nc\td\x7f") == "a [31mb c d ");
  CHECK(Block("a\x1b]0;x\x07\r\nb\tc") == "a ]0;x \nb\tc");
  CHECK(Line("\xc2\x9b"
             "31m") == " 31m");  // C1's control sequence introducer
  CHECK(Line("a\xe2\x80\xae"
             "b") == "a b");  // right-to-left override
  CHECK(Line("\xff\xc3/") == std::string(2, '?') + "/");
  CHECK(Line("\xc0\xaf\xed\xa0\x80") == std::string(5, '?'));  // overlong and surrogate
  CHECK(Line("größer ×") == "größer ×");
  CHECK(ValidUtf8("größer"));
  CHECK_FALSE(
      ValidUtf8("gr\xf6\xdf"
                "er"));
}

TEST_CASE("widths, cuts and wraps", "[unit]") {
  CHECK(DisplayWidth("größer") == 6);
  CHECK(Fit("größer", 6) == "größer");
  CHECK(Fit("größer", 4) == "grö…");
  CHECK(Fit("abc", 0).empty());
  CHECK(Wrap("one two three four", 9, "  ") == "one two\n  three\n  four");
  CHECK(Indent("a\nb\n", "  ") == "  a\n  b");
}

TEST_CASE("figures", "[unit]") {
  CHECK(FormatMs(123.456) == "123.5");
  CHECK(FormatMs(12.3456) == "12.35");
  CHECK(FormatMs(1.23456) == "1.235");
  CHECK(FormatMs(0.0123456) == "0.0123");
  CHECK(FormatMs(0.0000123) == "0.000012");
  CHECK(FormatMs(0) == "-");
  CHECK(FormatMs(std::numeric_limits<double>::quiet_NaN()) == "-");
  CHECK(FormatPercent(0.8214) == "82.1 %");
  CHECK(FormatPercent(0) == "-");
  CHECK(FormatSeconds(8.12) == "8.1 s");
  CHECK(FormatSeconds(72) == "1 min 12 s");
  CHECK(FormatSeconds(7380) == "2 h 03 min");
  CHECK(FormatInstant(1'700'000'000'000'000) == "2023-11-14 22:13");
  CHECK(FormatCount(999) == "999");
  CHECK(FormatCount(45'678) == "45k");
  CHECK(FormatCount(1'234'567) == "1.2M");
  CHECK(ShortId("3f2a91c0d4e5") == "3f2a91c0");
}

TEST_CASE("tables are aligned and fit the page", "[unit]") {
  Table table;
  table.AddColumn("round", Table::kRight);
  table.AddColumn("idea");
  table.AddRow({"1", "größer"});
  table.AddRow({"12", "a title that is much too long for the page"});
  CHECK(table.ToString(20) ==
        "round  idea\n"
        "    1  größer\n"
        "   12  a title that…\n");
  CHECK(table.ToString(80) ==
        "round  idea\n"
        "    1  größer\n"
        "   12  a title that is much too long for the page\n");
}

}  // namespace warpsmith::cli
