// The counts given are those of OpenAI's o200k_base and cl100k_base encodings for the same text.
#include "llm_gateway/limits/token_count.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

using namespace warpsmith::gateway;

namespace {

struct Known {
  std::string text;
  int64_t o200k, cl100k;
};

const Known kKnown[] = {
    {"tiktoken is great!", 6, 6},
    {"2 + 2 = 4", 7, 7},
    {"antidisestablishmentarianism", 6, 6},
    {"お誕生日おめでとう", 8, 9},
    {"The kernel reads each row once and keeps it in registers.", 12, 12},
    {"__global__ void layer_norm(const float* __restrict__ x, float* __restrict__ y, int n) {\n  int row = "
     "blockIdx.x;\n"
     "  float sum = 0.0f;\n  for (int i = threadIdx.x; i < n; i += blockDim.x) {\n    sum += x[row * n + i];\n  }\n}\n",
     77, 74},
    {R"({"version": 1, "steps": [{"kernel": "ln_apply<256>", "grid": ["4*sm_count"], "block": [256], )"
     R"("args": ["x", {"i32": 4194304}]}]})",
     50, 50},
    {"sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 46, 46},
    {"TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsuIExvcmVtIGlwc3VtIGRvbG9yIHNpdCBhbWV0", 48, 50},
    {"xqzvkjwpqzxvbnmqwrtplkjhgfdszxcvbnm", 23, 23},
    {"//////////////////////////////// section ================================", 4, 4},
    {"Größe, naïve, Ελληνικά, русский, 中文字符, 😀😀🚀", 18, 31},
    {"The result is 3.14159265358979 and the error is 1.2e-07 at index 1048576.", 29, 29},
};

}  // namespace

TEST_CASE("the estimate is at or above what known tokenizers count", "[unit]") {
  for (const Known& known : kKnown) {
    INFO(known.text);
    CHECK(EstimateTokens(known.text) >= std::max(known.o200k, known.cl100k));
    // Never more than a token a byte, which no byte-level tokenizer passes.
    CHECK(EstimateTokens(known.text) <= static_cast<int64_t>(known.text.size()));
  }
  // Above, but not by multiples, for what prompts are made of.
  for (int i : {4, 5, 6}) CHECK(EstimateTokens(kKnown[i].text) <= 2 * kKnown[i].o200k);
}

TEST_CASE("edges of the estimate", "[unit]") {
  CHECK(EstimateTokens("") == 0);
  CHECK(EstimateTokens(" ") == 1);
  CHECK(EstimateTokens("\n\n\n") == 3);
  CHECK(EstimateTokens("a") == 1);
  CHECK(EstimateTokens("1234567") == 7);
  CHECK(EstimateTokens("\xff\xfe") == 2);  // not UTF-8
  CHECK(EstimateTokens(std::string(1 << 20, ' ')) == (1 << 18));
  CHECK(EstimateTokens(std::string(1000, 'a')) == 1000);
  CHECK(EstimateTokens(std::string("a\0b", 3)) == 3);
}

TEST_CASE("a text in two parts counts about as much as in one", "[unit]") {
  std::string all;
  int64_t sum = 0;
  for (const Known& known : kKnown) {
    all += known.text + "\n";
    sum += EstimateTokens(known.text + "\n");
  }
  CHECK(EstimateTokens(all) == sum);
}

TEST_CASE("a prompt counts its messages, their wrapping and the schema", "[unit]") {
  PromptRequest request;
  int64_t empty = EstimatePromptTokens(request);
  CHECK(empty > 0);
  request.messages.push_back({"user", "hello", false});
  CHECK(EstimatePromptTokens(request) > empty + EstimateTokens("hello"));
  int64_t without = EstimatePromptTokens(request);
  request.schema = {{"type", "object"}};
  CHECK(EstimatePromptTokens(request) == without + EstimateTokens(request.schema.dump()));
}
