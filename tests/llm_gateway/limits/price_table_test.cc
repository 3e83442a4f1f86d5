#include "llm_gateway/limits/price_table.h"

#include <catch2/catch.hpp>

using namespace warpsmith;
using namespace warpsmith::gateway;

namespace {

std::string ErrorOf(const std::string& text) {
  auto table = PriceTable::Parse(text, "prices.yaml");
  REQUIRE_FALSE(table.ok());
  return Message(table.status());
}

TokenUsage Usage(int64_t input, int64_t cached, int64_t write_5m, int64_t write_1h, int64_t output, int64_t reasoning) {
  TokenUsage usage;
  usage.input = input;
  usage.cached_input = cached;
  usage.cache_write_5m = write_5m;
  usage.cache_write_1h = write_1h;
  usage.output = output;
  usage.reasoning = reasoning;
  return usage;
}

}  // namespace

TEST_CASE("a price file gives prices by name and alias, with defaults for parts not said", "[unit]") {
  auto table = PriceTable::Parse(
      "date: 2026-11-29\n"
      "models:\n"
      "  - {name: plain, input: 2, output: 8}\n"
      "  - {name: full, aliases: [full-2026-01-01], as_of: 2026-10-01, input: 3, cached_input: 0.3,\n"
      "     cache_write_5m: 3.75, cache_write_1h: 6, output: 15, reasoning: 20}\n",
      "prices.yaml");
  REQUIRE(table.ok());
  CHECK(table->id() == "2026-11-29");
  CHECK(table->size() == 3);
  CHECK_FALSE(table->Find("unknown").has_value());
  CHECK_FALSE(table->Find("Plain").has_value());
  Price plain = *table->Find("plain");
  CHECK(plain.cached_input == 2);
  CHECK(plain.cache_write_5m == 2);
  CHECK(plain.cache_write_1h == 2);
  CHECK(plain.reasoning == 8);
  Price full = *table->Find("full-2026-01-01");
  CHECK(full.cached_input == 0.3);
  CHECK(full.cache_write_1h == 6);
  CHECK(full.reasoning == 20);
}

TEST_CASE("what is wrong with a price file is told with line and field", "[unit]") {
  using Catch::Contains;
  CHECK_THAT(ErrorOf("models: []\n"), Contains("prices.yaml:1: date") && Contains("missing"));
  CHECK_THAT(ErrorOf("date: yesterday\n"), Contains("not a date"));
  CHECK_THAT(ErrorOf("date: 2026-02-30\n"), Contains("not a date"));
  CHECK_THAT(ErrorOf("date: 2026-01-01\nmodels:\n  - {name: a, input: 1}\n"),
             Contains("prices.yaml:3: models[0].output") && Contains("missing"));
  CHECK_THAT(ErrorOf("date: 2026-01-01\nmodels:\n  - {name: a, input: -1, output: 1}\n"), Contains("models[0].input"));
  CHECK_THAT(ErrorOf("date: 2026-01-01\nmodels:\n  - {name: a, input: 1, output: 1, cached: 1}\n"),
             Contains("cached") && Contains("no such field"));
  CHECK_THAT(ErrorOf("date: 2026-01-01\nmodels:\n  - {name: a, input: 1, output: 1}\n"
                     "  - {name: b, aliases: [a], input: 1, output: 1}\n"),
             Contains("prices.yaml:4") && Contains("\"a\" has a price already"));
}

TEST_CASE("the price file that comes along is sound", "[unit]") {
  auto table = PriceTable::Load(WARPSMITH_SOURCE_DIR "/llm_gateway/limits/prices.yaml");
  REQUIRE(table.ok());
  REQUIRE(table->Find("o3").has_value());
  CHECK(table->Find("o3")->cached_input == 0.5);
  CHECK(table->Find("o3-2025-04-16")->output == 8);
  CHECK(table->Find("claude-opus-4-5")->cache_write_5m == 6.25);
  CHECK(table->Find("gemini-2.5-pro")->long_prompt_tokens == 200'000);
  CHECK(CostOf(table->Find("text-embedding-3-large").value(), Usage(1'000'000, 0, 0, 0, 0, 0)) == Approx(0.13));
  CHECK(CostOf(table->Find("text-embedding-3-small").value(), Usage(1'000'000, 0, 0, 0, 0, 0)) == Approx(0.02));
  CHECK_FALSE(table->Find("Kevin-32B").has_value());
  auto path = PriceTable::DefaultPath();
  REQUIRE(path.ok());
  CHECK(PriceTable::Load(*path).ok());
}

TEST_CASE("costs follow each provider's rule, every token once", "[unit]") {
  auto table = PriceTable::Load(WARPSMITH_SOURCE_DIR "/llm_gateway/limits/prices.yaml");
  REQUIRE(table.ok());

  // OpenAI, o3: 10,000 in of which 4,000 cached, 6,000 out of which 5,000 reasoning: 6,000 * 2 + 4,000 * 0.5 + 6,000
  // * 8.
  CHECK(CostOf(*table->Find("o3"), Usage(10'000, 4'000, 0, 0, 1'000, 5'000)) == Approx(0.062).epsilon(1e-12));

  // Anthropic, Opus 4.5: input_tokens 1,000 beside 20,000 read, 3,000 written for 5 minutes and 2,000 for an hour:
  // 1,000 * 5 + 20,000 * 0.5 + 3,000 * 6.25 + 2,000 * 10 + (500 + 1,500) * 25.
  CHECK(CostOf(*table->Find("claude-opus-4-5"), Usage(26'000, 20'000, 3'000, 2'000, 500, 1'500)) ==
        Approx(0.10375).epsilon(1e-12));

  // Gemini 2.5 Pro: 8,000 of prompt with 2,000 cached, 700 candidates and 9,300 thoughts:
  // 6,000 * 1.25 + 2,000 * 0.125 + 10,000 * 10.
  CHECK(CostOf(*table->Find("gemini-2.5-pro"), Usage(8'000, 2'000, 0, 0, 700, 9'300)) ==
        Approx(0.10775).epsilon(1e-12));
  // Up to 200,000 tokens of prompt, and above: all of it at the higher price, 250,000 * 2.5 + 1,000 * 15.
  CHECK(CostOf(*table->Find("gemini-2.5-pro"), Usage(200'000, 0, 0, 0, 1'000, 0)) == Approx(0.26).epsilon(1e-12));
  CHECK(CostOf(*table->Find("gemini-2.5-pro"), Usage(250'000, 0, 0, 0, 1'000, 0)) == Approx(0.64).epsilon(1e-12));
}

TEST_CASE("cached tokens are not charged twice, and a reasoning price of its own is used", "[unit]") {
  Price price;
  price.input = 1;
  price.cached_input = 0.1;
  price.output = 10;
  price.reasoning = 5;
  CHECK(CostOf(price, Usage(1'000'000, 1'000'000, 0, 0, 0, 0)) == Approx(0.1));
  CHECK(CostOf(price, Usage(0, 0, 0, 0, 1'000'000, 1'000'000)) == Approx(15));
  // A server that reports more cached tokens than input: the cached ones alone, never a negative rest.
  CHECK(CostOf(price, Usage(100, 1'000'000, 0, 0, 0, 0)) == Approx(0.1));
  CHECK(CostOf(Price(), Usage(1'000'000, 0, 0, 0, 1'000'000, 0)) == 0);
}

TEST_CASE("the most a call may cost is never below what it costs", "[unit]") {
  Price price;
  price.input = 3;
  price.cached_input = 0.3;
  price.cache_write_5m = 3.75;
  price.cache_write_1h = 6;
  price.output = 15;
  price.reasoning = 20;
  CHECK(MostCost(price, 1'000'000, 1'000'000, false) == Approx(23));
  CHECK(MostCost(price, 1'000'000, 1'000'000, true) == Approx(26));
  for (int64_t part = 0; part <= 1000; part += 100) {
    CHECK(CostOf(price, Usage(1000, part, 1000 - part, 0, part, 1000 - part)) <= MostCost(price, 1000, 1000, true));
    CHECK(CostOf(price, Usage(1000, 0, part, 1000 - part, 1000, 0)) <= MostCost(price, 1000, 1000, true));
  }
}
