#include <catch2/catch.hpp>
#include <filesystem>

#include "common/file.h"
#include "common/hash.h"
#include "common/json.h"
#include "llm_gateway/prompts/describe.h"
#include "llm_gateway/prompts/device_facts.h"
#include "llm_gateway/prompts/prompt_set.h"
#include "llm_gateway/replies/code.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

const std::filesystem::path kPrompts = WARPSMITH_SOURCE_DIR "/llm_gateway/prompts";

TEST_CASE("a template needs its version and exactly its slots", "[unit]") {
  auto problem = [](const std::string& text) {
    return Message(PromptTemplate::Parse(text, "p.txt", {"a", "b"}).status());
  };
  CHECK(problem("version: p-1\n{{a}} and {{ b }}, {{a}}\n").empty());
  CHECK_THAT(problem("{{a}} {{b}}\n"), Contains("p.txt:1") && Contains("version"));
  CHECK_THAT(problem("version: p-1"), Contains("p.txt:1"));
  CHECK_THAT(problem("version: p-1\n{{a}}\n\n{{c}} {{b}}"),
             Contains("p.txt:4") && Contains("\"c\"") && Contains("a, b"));
  CHECK_THAT(problem("version: p-1\n{{a}}\n"), Contains("{{b}} is missing"));
  CHECK_THAT(problem("version: p-1\n{{a}} {{b"), Contains("p.txt:2"));
  auto parsed = PromptTemplate::Parse("version: p-1\n<{{a}}|{{b}}>", "p.txt", {"a", "b"}).value();
  CHECK(parsed.version() == "p-1");
  CHECK(parsed.Render({{"a", "{{b}}"}, {"b", "x"}}).value() == "<{{b}}|x>");  // values are never searched
  CHECK_FALSE(parsed.Render({{"a", "1"}}).ok());
}

TEST_CASE("a prompt that lacks a slot stops the start", "[unit]") {
  auto folder = TemporaryDirectory::Create("prompts").value();
  for (const char* name : {"contract", "propose_ideas", "implement_idea", "repair"}) {
    std::filesystem::copy(kPrompts / (std::string(name) + ".txt"), folder.path());
  }
  REQUIRE(PromptSet::Load(folder.path()).ok());
  REQUIRE(WriteFileAtomically(folder.path() / "repair.txt", "version: repair-9\n{{failed}}").ok());
  CHECK_THAT(Message(PromptSet::Load(folder.path()).status()), Contains("repair.txt") && Contains("is missing"));
  std::filesystem::remove(folder.path() / "repair.txt");
  CHECK_THAT(Message(PromptSet::Load(folder.path()).status()), Contains("repair.txt"));
}

TEST_CASE("the contract's example is a candidate that its own reader takes", "[unit]") {
  std::string contract = ReadFile(kPrompts / "contract.txt").value();
  CodeReply code = ReadCode(contract, false);
  REQUIRE(code.status == "ok");
  size_t start = code.source.find('{');
  auto plan = ParseStrictJson(code.source.substr(start, code.source.find("*/") - start));
  REQUIRE(plan.ok());
  CHECK((*plan)["steps"].size() == 2);
}

v1::TriedIdea Tried(const std::string& title, const std::string& category, const std::string& outcome, double ratio) {
  v1::TriedIdea tried;
  tried.mutable_idea()->set_title(title);
  tried.mutable_idea()->set_category(category);
  tried.set_outcome(outcome);
  tried.set_ratio_to_parent(ratio);
  tried.set_why("because | it is");
  return tried;
}

TEST_CASE("the ideas prompt carries what is known", "[unit]") {
  PromptSet prompts = PromptSet::Load(kPrompts).value();
  v1::ProposeIdeasRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_context()->add_operator_notes("prefer warp shuffles");
  auto& device = *request.mutable_context()->mutable_device();
  device.set_emulated(false);
  device.set_name("NVIDIA H200");
  device.set_compute_capability(90);
  device.set_sm_count(132);
  request.set_count(3);
  v1::ParentKernel& parent = *request.mutable_parent();
  parent.set_source("/* warpsmith-plan {} */ __global__ void f() {} // ``` {{device}}");
  parent.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  parent.mutable_evaluation()->mutable_timing()->set_median_ms(1.25);
  parent.mutable_evaluation()->set_ratio_to_eager(1.5);
  *request.add_tried() = Tried("Use float4", "memory_access", "ok", 1.31);
  *request.add_tried() = Tried("Unroll", "control_flow", "wrong_output", 0);
  RenderedPrompt prompt = prompts.ProposeIdeas(request);
  REQUIRE(prompt.messages.size() == 2);
  CHECK(prompt.messages[0].role == "system");
  CHECK_THAT(prompt.messages[0].text, Contains("warpsmith-plan"));
  const std::string& text = prompt.messages[1].text;
  for (const char* words :
       {"Propose exactly 3", "132 SMs", "sm_90", "4.8 TB/s", "wgmma", "Problem: layer_norm",
        "`ln.weight`: float32 (256)", "nn.LayerNorm(256, eps=1e-3)", "1.25 ms", "1.5x",
        "Use float4 | memory_access | ok | +31 % | because / it is", "Unroll | control_flow | wrong_output | - |",
        "memory_access 1", "compute 0", "prefer warp shuffles", "fp32"}) {
    CHECK_THAT(text, Contains(words));
  }
  CHECK_THAT(text, Contains("````cuda") && Contains("{{device}}"));  // the parent's text is data
  CHECK(prompt.version == "contract-1+propose_ideas-1");
  CHECK(prompt.sha256 == Sha256Hex(prompt.messages[0].text + '\0' + text));
  CHECK(prompts.ProposeIdeas(request).sha256 == prompt.sha256);
}

TEST_CASE("the code prompt begins with what is the same for every call", "[unit]") {
  PromptSet prompts = PromptSet::Load(kPrompts).value();
  v1::ImplementIdeaRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_idea()->set_title("Vector loads");
  request.mutable_idea()->add_plan("use float4");
  request.set_count(4);
  for (int i = 0; i < 3; ++i) {
    v1::EarlierTurn& turn = *request.add_earlier_turns();
    turn.set_source("source of turn " + std::to_string(i));
    turn.mutable_evaluation()->set_outcome(v1::OUTCOME_TIMEOUT);
  }
  RenderedPrompt first = prompts.ImplementIdea(request, 0), third = prompts.ImplementIdea(request, 2);
  CHECK(first.messages[0].text == third.messages[0].text);
  CHECK(first.sha256 != third.sha256);
  CHECK_THAT(third.messages[1].text, Contains("implementation 3 of 4") && Contains("Implement only this idea") &&
                                         Contains("Vector loads") && Contains("There is none yet") &&
                                         Contains("emulated") && !Contains("source of turn 0") &&
                                         Contains("source of turn 1") && Contains("source of turn 2") &&
                                         Contains("Turn 1: timeout") && Contains("first 1 turns are left out"));
}

TEST_CASE("the repair prompt says what went wrong", "[unit]") {
  PromptSet prompts = PromptSet::Load(kPrompts).value();
  v1::RepairRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_failed()->set_source("the failed file");
  request.mutable_idea()->set_title("Vector loads");
  request.set_attempt(2);
  v1::Evaluation& evaluation = *request.mutable_failed()->mutable_evaluation();
  evaluation.set_outcome(v1::OUTCOME_COMPILE_ERROR);
  evaluation.mutable_compile()->set_log("a warning\ncandidate.cu(7): error: identifier \"foo\" is undefined\nand more");
  std::string text = prompts.Repair(request).messages[1].text;
  CHECK_THAT(text, Contains("candidate.cu(7): error") && !Contains("a warning") && Contains("repair attempt 2") &&
                       Contains("the failed file"));
  evaluation.set_outcome(v1::OUTCOME_WRONG_OUTPUT);
  v1::Mismatch& mismatch = *evaluation.mutable_mismatch();
  mismatch.set_output("output");
  mismatch.add_index(3);
  mismatch.add_index(17);
  mismatch.set_expected(0.5);
  mismatch.set_got(0.25);
  mismatch.set_wrong_elements(12);
  mismatch.set_elements(2048);
  v1::TrialVerdict& trial = *evaluation.add_trials();
  trial.set_distribution("mean_1000");
  trial.set_relative_rms_error(0.5);
  text = prompts.Repair(request).messages[1].text;
  CHECK_THAT(text, Contains("index (3, 17): expected 0.5, got 0.25; 12 of 2048") && Contains("mean_1000") &&
                       !Contains("candidate.cu(7)"));
}

TEST_CASE("a long history is folded, and says how much", "[unit]") {
  google::protobuf::RepeatedPtrField<v1::TriedIdea> tried;
  for (int i = 0; i < 150; ++i) {
    *tried.Add() = Tried("Idea number " + std::to_string(i), i % 2 ? "compute" : "precision",
                         i == 3 ? "ok" : "wrong_output", i == 3 ? 1.4 : 0);
  }
  std::string text = DescribeTried(tried, 20);
  CHECK_THAT(text, Contains("Further 130 ideas") && Contains("compute, wrong_output (64)") &&
                       Contains("precision, wrong_output (66)"));
  for (int i = 0; i < 150; ++i) CHECK_THAT(text, Contains("Idea number " + std::to_string(i)));  // none is lost
  CHECK_THAT(text, Contains("Idea number 3 | compute | ok | +40 %"));  // what helped stays whole
  CHECK_THAT(text, Contains("Idea number 149 | compute"));
  CHECK(DescribeTried({}) == "None.");
  CHECK_THAT(DescribeTried(tried, 1000, 2000), Contains("Further "));
}

TEST_CASE("devices are described by what is known of them", "[unit]") {
  v1::DeviceDescription device;
  device.set_emulated(true);
  CHECK_THAT(DescribeDevice(device), Contains("emulated") && Contains("inline PTX"));
  device.set_emulated(false);
  device.set_name("NVIDIA L40S");
  device.set_compute_capability(89);
  CHECK_THAT(DescribeDevice(device),
             Contains("8.9") && Contains("0.864 TB/s") && Contains("no TMA") && !Contains("L2"));
  device.set_name("Unheard-of");
  device.set_compute_capability(77);
  CHECK_THAT(DescribeDevice(device), Contains("sm_77") && !Contains("TB/s"));
}

}  // namespace
}  // namespace warpsmith::gateway
