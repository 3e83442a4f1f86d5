// The prompt files as they lie: every variant loads, every text has a version of its own, and the example in each
// contract is a candidate.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "common/file.h"
#include "common/hash.h"
#include "common/json.h"
#include "llm_gateway/prompts/prompt_set.h"
#include "llm_gateway/replies/code.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

const std::filesystem::path kPromptFiles = WARPSMITH_SOURCE_DIR "/llm_gateway/prompts";

std::vector<std::string> VariantFolders() {
  std::vector<std::string> names;
  for (const auto& entry : EntriesOf(kPromptFiles)) {
    if (std::filesystem::is_directory(entry)) names.push_back(entry.filename().string());
  }
  return names;
}

TEST_CASE("every folder is a variant that loads", "[unit]") {
  const std::vector<std::string> names = VariantFolders();
  CHECK(names == std::vector<std::string>{"default", "terse"});
  absl::StatusOr<PromptSet> prompts = PromptSet::Load(kPromptFiles, names);
  INFO(Message(prompts.status()));
  REQUIRE(prompts.ok());
  for (const std::string& name : names) {
    CHECK(EntriesOf(kPromptFiles / name).size() == 9);  // no file that nothing reads
  }
}

// A version names one text for ever: results are compared by it.
TEST_CASE("a prompt's text never changes without its version", "[unit]") {
  std::map<std::string, std::string> digests;  // "default/contract.txt contract-2" to its digest
  const std::string list = ReadFile(WARPSMITH_SOURCE_DIR "/tests/llm_gateway/prompts/prompt_digests.txt").value();
  for (std::string_view line : SplitLines(list)) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.rfind(' ');
    REQUIRE(space != line.npos);
    INFO(line);
    CHECK(digests.emplace(line.substr(0, space), line.substr(space + 1)).second);  // a version stands once
  }
  for (const std::string& variant : VariantFolders()) {
    for (const auto& path : EntriesOf(kPromptFiles / variant)) {
      const std::string text = ReadFile(path).value();
      const std::string first = text.substr(0, text.find('\n'));
      REQUIRE(first.rfind("version: ", 0) == 0);
      const std::string key = fmt::format("{}/{} {}", variant, path.filename().string(), first.substr(9));
      INFO(
          fmt::format("Where this fails, raise the version in the first line of {}, and add to prompt_digests.txt:\n"
                      "{} {}",
                      path.string(), key, Sha256Hex(text)));
      CHECK(digests[key] == Sha256Hex(text));
    }
  }
}

TEST_CASE("each contract's example is a candidate that its own reader takes", "[unit]") {
  for (const std::string& variant : VariantFolders()) {
    INFO(variant);
    CodeReply code = ReadCode(ReadFile(kPromptFiles / variant / "contract.txt").value(), false);
    REQUIRE(code.status == "ok");
    const size_t start = code.source.find('{');
    auto plan = ParseStrictJson(code.source.substr(start, code.source.find("*/") - start));
    REQUIRE(plan.ok());
    CHECK((*plan)["steps"].size() == 2);
    CHECK((*plan)["tune"]["THREADS"].size() == 2);
  }
}

TEST_CASE("every variant tells the contract, the banned and the format of ideas", "[unit]") {
  PromptSet prompts = PromptSet::Load(kPromptFiles, VariantFolders()).value();
  for (const std::string& variant : prompts.variants()) {
    INFO(variant);
    v1::ProposeIdeasRequest request;
    request.mutable_call()->set_prompt_variant(variant);
    request.set_count(2);
    const std::string system = prompts.ProposeIdeas(request)->messages[0].text.str();
    for (const char* words : {"warpsmith-plan",
                              "\"scratch\"",
                              "\"memset\"",
                              "\"repeat\"",
                              "tensor_map",
                              "\"tune\"",
                              "\"prepare\"",
                              "--use_fast_math",
                              "sm_90a",
                              "sm_count",
                              "hard-coded|hard-coding",
                              "poison",
                              "float64",
                              "\"title\"",
                              "\"category\"",
                              "\"bottleneck\"",
                              "\"evidence\"",
                              "\"hypothesis\"",
                              "\"plan\"",
                              "\"expected_speedup\"",
                              "\"risk\"",
                              "\"changes_precision\"",
                              "memory_access",
                              "async_latency",
                              "precision",
                              "compute",
                              "parallelism_occupancy",
                              "control_flow"}) {
      const std::string either = words;
      const size_t bar = either.find('|');
      const bool said = system.find(either.substr(0, bar)) != system.npos ||
                        (bar != either.npos && system.find(either.substr(bar + 1)) != system.npos);
      INFO(words);
      CHECK(said);
    }
  }
  // Really another way of asking, and a shorter one.
  v1::ImplementIdeaRequest request;
  const std::string whole = prompts.ImplementIdea(request, 0)->messages[0].text.str();
  request.mutable_call()->set_prompt_variant("terse");
  CHECK(prompts.ImplementIdea(request, 0)->messages[0].text.str().size() * 10 < whole.size() * 7);
}

}  // namespace
}  // namespace warpsmith::gateway
