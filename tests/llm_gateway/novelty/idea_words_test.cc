#include "llm_gateway/novelty/idea_words.h"

#include <catch2/catch.hpp>

namespace warpsmith::gateway {
namespace {

TEST_CASE("words have one stem whatever their ending and spelling", "[unit]") {
  const std::vector<std::vector<std::string>> families = {
      {"vectorise", "vectorize", "vectorised", "vectorized", "vectorising", "vectorization", "vectorisation"},
      {"unroll", "unrolled", "unrolling", "unrolls"},
      {"tile", "tiles", "tiled", "tiling"},
      {"fuse", "fused", "fusing", "fuses"},
      {"buffer", "buffers", "buffered", "buffering"},
      {"copy", "copies"},
  };
  for (const auto& family : families) {
    for (const std::string& word : family) {
      INFO(word);
      CHECK(Stem(word) == Stem(family[0]));
    }
  }
  CHECK(Stem("128") == "128");
  CHECK(Stem("bus") == "bus");
  CHECK(Stem("") == "");
  CHECK(Stem("load") != Stem("store"));
}

TEST_CASE("the names of a technique are one word of more weight", "[unit]") {
  for (const char* text : {"Use float4 loads", "128-bit accesses", "VECTORIZED", "wide loads", "vectorisation of x"}) {
    INFO(text);
    auto words = IdeaWords(text);
    REQUIRE(words.count("#vector") == 1);
    CHECK(words["#vector"] > 1);
  }
  CHECK(IdeaWords("__shfl_down_sync").count("#shuffle") == 1);
  CHECK(IdeaWords("cp.async.bulk by TMA").count("#tma") == 1);
  CHECK(IdeaWords("cp.async.bulk by TMA").count("#cp_async") == 0);  // the longer name wins
  CHECK(IdeaWords("block swizzle").count("#raster") == 1);
  CHECK(IdeaWords("XOR swizzle").count("#bank_conflict") == 1);
  CHECK(IdeaWords("the a of and with").empty());
  CHECK(IdeaWords("").empty());
  CHECK(IdeaWords("64 rows")["64"] < IdeaWords("64 rows")["row"]);
}

TEST_CASE("hostile text costs little", "[unit]") {
  CHECK(IdeaWords(std::string(10 << 20, 'x')).size() == 1);
  std::string many;
  for (int i = 0; i < 200000; ++i) many += "w" + std::to_string(i) + " ";
  CHECK(IdeaWords(many).size() < 3000);
  CHECK_NOTHROW(IdeaWords(std::string("\xff\xfe\0 x", 5)));
}

}  // namespace
}  // namespace warpsmith::gateway
