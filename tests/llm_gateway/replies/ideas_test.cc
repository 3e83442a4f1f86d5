#include "llm_gateway/replies/ideas.h"

#include <catch2/catch.hpp>

#include "llm_gateway/replies/lenient_json.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

const std::string kTwo = R"({"ideas": [
  {"title": "Use float4 loads", "category": "memory_access", "bottleneck": "DRAM", "evidence": ["dram 40 %", "L2 3 %"],
   "hypothesis": "wider", "plan": ["a", "b"], "expected_speedup": 1.3, "risk": "low", "changes_precision": false},
  {"title": "Split K", "category": "parallelism_occupancy", "expected_speedup": "1.5x", "risk": "HIGH"}]})";

std::vector<std::string> Titles(const std::string& reply, int count = 5, const std::vector<std::string>& tried = {}) {
  std::vector<std::string> titles;
  for (const v1::Idea& idea : ReadIdeas(reply, count, tried).ideas) titles.push_back(idea.title());
  return titles;
}

TEST_CASE("fields are read", "[unit]") {
  IdeasReply reply = ReadIdeas(kTwo, 2, {});
  REQUIRE(reply.ideas.size() == 2);
  CHECK(reply.shortfall.empty());
  const v1::Idea& first = reply.ideas[0];
  CHECK(first.category() == "memory_access");
  CHECK(first.evidence() == "dram 40 %; L2 3 %");
  CHECK(first.plan_size() == 2);
  CHECK(first.expected_speedup() == 1.3);
  CHECK(first.risk() == "low");
  CHECK(reply.ideas[1].expected_speedup() == 1.5);
  CHECK(reply.ideas[1].risk() == "high");
}

TEST_CASE("shapes of ideas replies", "[unit]") {
  const std::vector<std::string> both = {"Use float4 loads", "Split K"};
  CHECK(Titles(kTwo) == both);
  CHECK(Titles("Sure!\n```json\n" + kTwo + "\n```\nGood luck {really}.") == both);
  CHECK(Titles("```\n" + kTwo) == both);
  CHECK(Titles("<think>{\"ideas\": [{\"title\": \"Draft\"}]}</think>" + kTwo) == both);
  CHECK(Titles(R"([{"title": "A"}, {"title": "B"}])") == std::vector<std::string>{"A", "B"});
  CHECK(Titles(R"({"title": "Alone", "category": "compute"})") == std::vector<std::string>{"Alone"});
  CHECK(Titles(R"({"ideas": {"title": "Alone"}})") == std::vector<std::string>{"Alone"});
  CHECK(Titles(R"({"ideas": [{"title": "A",}, {"title": "B",},],})") == std::vector<std::string>{"A", "B"});
  CHECK(Titles("{\"ideas\": [ // two\n {\"title\": \"A\" /* first */}, {\"title\": \"B // not a comment\"}]}") ==
        std::vector<std::string>{"A", "B // not a comment"});
  CHECK(Titles("{\"ideas\": [{\"title\": \"A\", \"hypothesis\": \"two\nlines\"}]}") == std::vector<std::string>{"A"});
  CHECK(Titles("{\"title\": \"A\"}\nand\n{\"title\": \"B\"}") == std::vector<std::string>{"A", "B"});
  CHECK(Titles(R"({"optimizations": [{"name": "N"}, {"idea": "I"}]})") == std::vector<std::string>{"N", "I"});
  CHECK(Titles(kTwo.substr(0, kTwo.size() - 4)) ==
        std::vector<std::string>{"Use float4 loads"});  // cut: the whole ones count
  CHECK(Titles("\xEF\xBB\xBF" + kTwo) == both);
  CHECK(Titles("[1, 2, {\"x\": 3}] " + kTwo) == both);
}

TEST_CASE("other shapes that models write", "[unit]") {
  struct Row {
    const char* what;
    std::string reply;
    std::vector<std::string> titles;
  };
  const std::vector<std::string> two = {"A", "B"};
  const std::vector<Row> rows = {
      {"a numbered list of objects", "1. {\"title\": \"A\"}\n2. {\"title\": \"B\"}\n", two},
      {"objects under headings",
       "### Idea 1\n```json\n{\"title\": \"A\"}\n```\n### Idea 2\n```json\n{\"title\": \"B\"}\n```", two},
      {"objects by number", R"({"1": {"title": "A"}, "2": {"title": "B"}})", two},
      {"objects by name and number", R"({"ideas": {"idea_1": {"title": "A"}, "Idea 2": {"title": "B"}}})", two},
      {"each in an object of its own", R"([{"idea": {"title": "A"}}, {"idea": {"title": "B"}}])", two},
      {"a list as text", R"({"ideas": "[{\"title\": \"A\"}, {\"title\": \"B\"}]"})", two},
      {"an envelope", R"({"response": {"ideas": [{"title": "A"}, {"title": "B"}]}})", two},
      {"lines of JSON", "{\"title\": \"A\"}\n{\"title\": \"B\"}\n", two},
      {"Python's literals",
       "{'ideas': [{'title': 'A', 'changes_precision': True, 'risk': None}, {'title': 'B', 'plan': ['don\\'t wait', "
       "\"x\"]}]}",
       two},
      {"Python with an apostrophe inside", "[{'title': 'A', 'hypothesis': 'it's faster'}, {'title': 'B'}]", two},
      {"CR LF", "{\"ideas\": [\r\n{\"title\": \"A\"},\r\n{\"title\": \"B\"}\r\n]}\r\n", two},
      {"two tries, the second whole",
       R"({"ideas": [{"title": "A"}, )"
       "\nSorry, again:\n"
       R"({"ideas": [{"title": "A"}, {"title": "B"}]})",
       two},
      {"fields in lines",
       "Title: A\nCategory: memory_access\nPlan:\n- first\n- second\n\nTitle: B\nCategory: compute\n", two},
      {"fields in Markdown",
       "1. **Title:** A\n   **Category:** memory_access\n   **Expected speedup:** 1.2x\n\n2. **Title:** B\n   "
       "**Hypothesis:** less\n",
       two},
      {"ideas by number in Markdown", "## Idea 1: A\n**Bottleneck**: DRAM\n\n## Idea 2: B\n**Bottleneck**: L2\n", two},
      {"text alone", "Title: nothing else follows", {}},
      {"names of fields in prose", "The category: of all things. I like the title: it is good.", {}},
      {"other objects", R"({"error": {"message": "overloaded"}} {"x": [1, 2]})", {}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(Titles(row.reply) == row.titles);
  }
}

TEST_CASE("fields of ideas without JSON are read too", "[unit]") {
  IdeasReply reply = ReadIdeas(
      "Here you are.\n\n**Idea 1: Wide loads**\n- Category: dtype_precision\n- Bottleneck: DRAM\n- Expected speedup: "
      "20%\n"
      "- Risk: High\n- Plan:\n  1. cast\n  2. load\n",
      1, {});
  REQUIRE(reply.ideas.size() == 1);
  const v1::Idea& idea = reply.ideas[0];
  CHECK(idea.title() == "Wide loads");
  CHECK(idea.category() == "precision");
  CHECK(idea.bottleneck() == "DRAM");
  CHECK(idea.expected_speedup() == Approx(1.2));
  CHECK(idea.risk() == "high");
  REQUIRE(idea.plan_size() == 2);
  CHECK(idea.plan(1) == "load");
}

TEST_CASE("too many, too few, tried and repeated", "[unit]") {
  CHECK(ReadIdeas(kTwo, 1, {}).ideas.size() == 1);
  CHECK(ReadIdeas(kTwo, 1, {}).shortfall.empty());
  CHECK(Titles(R"([{"title": "Same"}, {"title": "same."}])") == std::vector<std::string>{"Same"});
  CHECK(Titles(R"([{"category": "compute"}, {"title": ""}, {"title": "  "}, 7, null, "x", {"title": 5}])") ==
        std::vector<std::string>{"5"});
  struct Row {
    std::string reply;
    std::vector<std::string> tried;
    std::string shortfall;
  };
  const std::vector<Row> rows = {
      {kTwo, {}, "2 of 3 ideas"},
      {kTwo, {"use FLOAT4-loads!"}, "1 of 3 ideas; 1 tried before"},
      {R"([{"title": "Same"}, {"title": "same."}])", {}, "1 of 3 ideas; 1 said twice"},
      {R"([{"title": "A"}, {"category": "compute", "plan": ["x"]}])", {}, "1 of 3 ideas; 1 without a title"},
      {R"([{"category": "compute", "plan": ["x"]}])", {}, "0 of 3 ideas; objects without a title: 1"},
      {"I cannot think of any.",
       {},
       "0 of 3 ideas; the reply holds no idea in JSON; it begins: I cannot think of any."},
      {"", {}, "0 of 3 ideas; the reply is empty"},
      {"  \n", {}, "0 of 3 ideas; the reply is empty"},
      {"<think>still", {}, "0 of 3 ideas; the reply ended while the model was still thinking"},
      {R"({"ideas": [{"title": "Cut o)",
       {},
       "0 of 3 ideas; the reply ended, or its JSON broke, before the first idea was whole"},
      {R"({"error": "busy"})", {}, "0 of 3 ideas; the JSON in the reply holds no idea"},
  };
  for (const Row& row : rows) {
    INFO(row.reply);
    CHECK(ReadIdeas(row.reply, 3, row.tried).shortfall == row.shortfall);
  }
}

TEST_CASE("categories by any name", "[unit]") {
  struct Row {
    const char* category;
    const char* title;
    const char* normal;
  };
  for (Row row : {Row{"memory_access", "", "memory_access"},
                  {"Memory Access Optimization", "", "memory_access"},
                  {"memory", "", "memory_access"},
                  {"coalescing", "", "memory_access"},
                  {"Asynchronous Operations & Latency Hiding", "", "async_latency"},
                  {"async", "", "async_latency"},
                  {"memory latency hiding", "", "async_latency"},
                  {"dtype_precision", "", "precision"},
                  {"Data Type & Precision Optimization", "", "precision"},
                  {"compute_instruction", "", "compute"},
                  {"Compute & Instruction Optimization", "", "compute"},
                  {"Parallelism & Occupancy Enhancement", "", "parallelism_occupancy"},
                  {"occupancy", "", "parallelism_occupancy"},
                  {"Control Flow & Loop Optimization", "", "control_flow"},
                  {"loop unrolling", "", "control_flow"},
                  {"", "Unroll the inner loop", "control_flow"},
                  {"other", "Use float4 vector loads", "memory_access"},
                  {"underutilized", "", "parallelism_occupancy"},
                  {"Numerical precision", "", "precision"},
                  {"PARALLELISM-OCCUPANCY", "", "parallelism_occupancy"},
                  {"control-flow", "", "control_flow"},
                  {"kernel fusion", "", "control_flow"},
                  {"tensor cores", "", "compute"},
                  {"data locality", "", "memory_access"},
                  {"magic", "magic", "compute"}}) {
    INFO(row.category);
    CHECK(NormalCategory(row.category, row.title) == row.normal);
  }
}

TEST_CASE("everything is bounded and valid", "[unit]") {
  std::string reply = R"([{"title": ")" + std::string(5000, 't') + R"(", "hypothesis": ")" + std::string(100000, 'h') +
                      R"(", "expected_speedup": 1e300, "plan": [)";
  for (int i = 0; i < 100; ++i) reply += R"("step",)";
  reply += "]}]";
  IdeasReply ideas = ReadIdeas(reply, 1, {});
  REQUIRE(ideas.ideas.size() == 1);
  CHECK(ideas.ideas[0].title().size() <= 200);
  CHECK(ideas.ideas[0].hypothesis().size() <= 2000);
  CHECK(ideas.ideas[0].plan_size() == 12);
  CHECK(ideas.ideas[0].expected_speedup() == 0);
  CHECK(ReadIdeas(R"([{"title": "a | b\n\u0000c", "expected_speedup": "20 %"}])", 1, {}).ideas[0].expected_speedup() ==
        Approx(1.2));
}

TEST_CASE("hostile JSON costs little", "[unit]") {
  for (const std::string& text : {std::string(1 << 20, '{'), std::string(1 << 20, '['), std::string(1 << 19, '"'),
                                  std::string("{\"a\":") + std::string(1 << 19, '['), "[" + std::string(1 << 18, '}'),
                                  "{\"title\": /* " + std::string(1 << 18, '*'), "{'" + std::string(1 << 19, '\''),
                                  "[" + std::string(1 << 19, '\'') + "]", std::string(1 << 19, '\n')}) {
    CHECK(ReadIdeas(text, 3, {}).ideas.empty());
  }
  CHECK_FALSE(ParseLenientJson(std::string(100000, '[')).has_value());
}

}  // namespace
}  // namespace warpsmith::gateway
