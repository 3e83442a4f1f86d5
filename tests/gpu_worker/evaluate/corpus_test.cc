// Every file of tests/corpus through the real evaluator: honest candidates are accepted at their class, hostile ones
// end as the manifest says, and nothing of this machine shows in what they are told.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "common/file.h"
#include "common/json.h"
#include "common/protocol_names.h"
#include "tests/gpu_worker/evaluate/testing.h"

namespace warpsmith::evaluate {
namespace {

std::set<std::string> Allowed(const Json& entry) {
  std::set<std::string> allowed = {entry["expected_outcome"]};
  for (const auto& more : entry.value("also_allowed", Json::array())) allowed.insert(more.get<std::string>());
  return allowed;
}

void Check(const Json& entry, const std::string& expected_group) {
  std::string file = entry["file"];
  if (file.rfind(expected_group, 0) != 0) return;
  auto source = ReadFile(CorpusFolder() / file);
  REQUIRE(source.ok());
  std::vector<v1::PrecisionClass> accepted;
  for (const auto& name : entry.value("accepted", Json::array())) accepted.push_back(ClassNamed(name));
  v1::Evaluation evaluation = EvaluateForTest(entry["problem"], *source, accepted);
  std::string text = evaluation.DebugString();
  INFO(file << ": " << entry.value("note", "") << "\n" << text.substr(0, 3000));
  std::string outcome = OutcomeName(evaluation.outcome());
  CHECK(Allowed(entry).count(outcome) == 1);
  if (entry.contains("expected_class")) CHECK(evaluation.reached() == ClassNamed(entry["expected_class"]));
  if (entry.contains("expected_reason") && outcome == entry["expected_outcome"]) {
    std::set<std::string> reasons = {entry["expected_reason"]};  // a bomb meets whichever limit is nearer
    for (const auto& more : entry.value("also_reasons", Json::array())) reasons.insert(more.get<std::string>());
    CHECK(reasons.count(evaluation.reason()) == 1);
  }
  for (const auto& secret : entry.value("must_not_appear", Json::array())) {
    CHECK(text.find(secret.get<std::string>()) == std::string::npos);
  }
  if (outcome != "ok") CHECK_FALSE(evaluation.message().empty());
  if (outcome == "ok") CHECK(evaluation.timing().median_ms() > 0);
}

Json Manifest() {
  auto text = ReadFile(CorpusFolder() / "manifest.json");
  REQUIRE(text.ok());
  auto manifest = ParseStrictJson(*text);
  REQUIRE(manifest.ok());
  return *manifest;
}

TEST_CASE("every file of the corpus stands in the manifest", "[unit]") {
  std::set<std::string> listed, present;
  for (const Json& entry : Manifest()) listed.insert(entry["file"].get<std::string>());
  for (const char* group : {"honest", "hostile"}) {
    for (const auto& file : std::filesystem::directory_iterator(CorpusFolder() / group)) {
      if (file.path().extension() == ".cu")
        present.insert(fmt::format("{}/{}", group, file.path().filename().string()));
    }
  }
  CHECK(listed == present);
}

TEST_CASE("honest candidates are accepted", "[corpus][honest]") {
  for (const Json& entry : Manifest()) Check(entry, "honest/");
}

TEST_CASE("hostile candidates are caught", "[corpus][hostile]") {
  for (const Json& entry : Manifest()) Check(entry, "hostile/");
}

}  // namespace
}  // namespace warpsmith::evaluate
