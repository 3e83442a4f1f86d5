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

TEST_CASE("too many, too few, tried and repeated", "[unit]") {
  CHECK(Titles(kTwo, 1) == std::vector<std::string>{"Use float4 loads"});
  CHECK(ReadIdeas(kTwo, 1, {}).shortfall.empty());
  CHECK_THAT(ReadIdeas(kTwo, 3, {}).shortfall, Contains("2 of 3"));
  IdeasReply reply = ReadIdeas(kTwo, 2, {"use FLOAT4-loads!"});
  CHECK(reply.ideas.size() == 1);
  CHECK_THAT(reply.shortfall, Contains("1 of 2") && Contains("tried before"));
  CHECK(Titles(R"([{"title": "Same"}, {"title": "same."}])") == std::vector<std::string>{"Same"});
  CHECK_THAT(ReadIdeas("I cannot think of any.", 2, {}).shortfall, Contains("no idea in JSON"));
  CHECK_THAT(ReadIdeas("<think>still", 2, {}).shortfall, Contains("thinking"));
  CHECK(Titles(R"([{"category": "compute"}, {"title": ""}, {"title": "  "}, 7, null, "x", {"title": 5}])") ==
        std::vector<std::string>{"5"});
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
                                  "{\"title\": /* " + std::string(1 << 18, '*')}) {
    CHECK(ReadIdeas(text, 3, {}).ideas.empty());
  }
  CHECK_FALSE(ParseLenientJson(std::string(100000, '[')).has_value());
}

}  // namespace
}  // namespace warpsmith::gateway
