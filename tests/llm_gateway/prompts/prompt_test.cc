#include <catch2/catch.hpp>
#include <filesystem>

#include "common/file.h"
#include "common/hash.h"
#include "common/json.h"
#include "llm_gateway/prompts/idea_schema.h"
#include "llm_gateway/prompts/prompt_set.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

const std::filesystem::path kPrompts = WARPSMITH_SOURCE_DIR "/llm_gateway/prompts";

PromptSet Both() { return PromptSet::Load(kPrompts, {"default", "terse"}).value(); }

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

TEST_CASE("what is wrong with a folder of prompts stops the start", "[unit]") {
  auto folder = TemporaryDirectory::Create("prompts").value();
  std::filesystem::copy(kPrompts / "terse", folder.path() / "mine");
  auto problem = [&](const std::vector<std::string>& variants) {
    return Message(PromptSet::Load(folder.path(), variants).status());
  };
  REQUIRE(problem({"mine"}).empty());
  CHECK_THAT(problem({}), Contains("\"default\"") && Contains("there are: mine"));
  CHECK_THAT(problem({"mine", "mine"}), Contains("stands twice"));
  CHECK_THAT(problem({"../mine"}), Contains("there is no folder"));
  CHECK_THAT(problem({""}), Contains("there is no folder"));
  const std::filesystem::path repair = folder.path() / "mine" / "repair.txt";
  REQUIRE(WriteFileAtomically(repair, "version: repair-9\n{{failed}}").ok());
  CHECK_THAT(problem({"mine"}), Contains("repair.txt") && Contains("is missing"));
  REQUIRE(
      WriteFileAtomically(repair, "version: mine-9\n{{failed}}{{idea}}{{failure}}{{earlier_turns}}{{notes}}{{attempt}}")
          .ok());
  CHECK_THAT(problem({"mine"}), Contains("repair.txt:1") && Contains("repair-NUMBER"));
  std::filesystem::remove(repair);
  CHECK_THAT(problem({"mine"}), Contains("repair.txt"));
}

TEST_CASE("variants: the default, those loaded, and none by accident", "[unit]") {
  PromptSet prompts = Both();
  CHECK(prompts.variants() == std::vector<std::string>{"default", "terse"});
  CHECK(prompts.Has(""));
  CHECK(prompts.Has("terse"));
  CHECK_FALSE(prompts.Has("Terse"));
  v1::ProposeIdeasRequest propose;
  v1::ImplementIdeaRequest implement;
  v1::RepairRequest repair;
  for (v1::CallContext* call : {propose.mutable_call(), implement.mutable_call(), repair.mutable_call()}) {
    call->set_prompt_variant("shouted");
  }
  for (const absl::Status& status : {prompts.CheckVariant("shouted"), prompts.ProposeIdeas(propose).status(),
                                     prompts.ProposeIdeasAgain(propose, {}, {}).status(),
                                     prompts.ImplementIdea(implement, 0).status(), prompts.Repair(repair).status()}) {
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK_THAT(Message(status),
               Contains("call.prompt_variant") && Contains("\"shouted\"") && Contains("default, terse"));
  }
  repair.clear_call();
  RenderedPrompt prompt = prompts.Repair(repair).value();
  CHECK(prompt.variant == "default");
  CHECK_THAT(prompt.version, Catch::Matchers::StartsWith("default/contract-") && Contains("+repair_guide-") &&
                                 Contains("+problem-") && Contains("+repair-"));
  repair.mutable_call()->set_prompt_variant("terse");
  CHECK_THAT(prompts.Repair(repair)->version, Catch::Matchers::StartsWith("terse/contract-"));
  CHECK(prompts.Repair(repair)->sha256 != prompt.sha256);
  CHECK(PromptSet::Load(kPrompts, {"terse"})->Repair(v1::RepairRequest())->variant == "terse");
}

v1::ProposeIdeasRequest Question(const std::string& variant) {
  v1::ProposeIdeasRequest request;
  request.mutable_call()->set_prompt_variant(variant);
  *request.mutable_context() = LayerNormContext();
  request.mutable_context()->add_operator_notes("prefer warp shuffles");
  v1::BankPattern& pattern = *request.mutable_context()->add_patterns();
  pattern.set_title("Row in registers");
  pattern.set_category("memory_access");
  pattern.set_source("a bank kernel");
  auto& device = *request.mutable_context()->mutable_device();
  device.set_emulated(false);
  device.set_name("NVIDIA H200");
  device.set_compute_capability(90);
  device.set_sm_count(132);
  request.set_count(3);
  v1::ParentKernel& parent = *request.mutable_parent();
  parent.set_candidate_id("p");
  parent.set_source("/* warpsmith-plan {} */ __global__ void f() {} // ``` {{device}}");
  parent.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  parent.mutable_evaluation()->mutable_timing()->set_median_ms(1.25);
  parent.mutable_evaluation()->set_ratio_to_eager(1.5);
  v1::TriedIdea& tried = *request.add_tried();
  tried.mutable_idea()->set_title("Use float4");
  tried.mutable_idea()->set_category("memory_access");
  tried.set_outcome("ok");
  tried.set_ratio_to_parent(1.31);
  tried.set_parent_candidate_id("p");
  return request;
}

TEST_CASE("the ideas prompt carries what is known, in every variant", "[unit]") {
  PromptSet prompts = Both();
  for (const std::string& variant : prompts.variants()) {
    INFO(variant);
    v1::ProposeIdeasRequest request = Question(variant);
    RenderedPrompt prompt = prompts.ProposeIdeas(request).value();
    REQUIRE(prompt.messages.size() == 3);
    CHECK(prompt.messages[0].role == "system");
    CHECK(prompt.messages[1].role == "user");
    CHECK(prompt.messages[2].role == "user");
    for (const char* words : {"132 SMs", "sm_90", "4.8 TB/s", "wgmma", "Problem: layer_norm",
                              "`ln.weight`: float32 (256)", "nn.LayerNorm(256, eps=1e-3)", "as accurate as float32"}) {
      CHECK_THAT(prompt.messages[1].text, Contains(words));
    }
    const std::string& text = prompt.messages[2].text.str();
    for (const char* words :
         {"exactly 3", "1.25 ms", "1.5x", "Use float4 | memory_access | this | ok | +31 %", "memory_access 1",
          "compute 0", "prefer warp shuffles", "Row in registers", "a bank kernel"}) {
      CHECK_THAT(text, Contains(words));
    }
    CHECK_THAT(text, Contains("````cuda") && Contains("{{device}}"));  // the parent's text is data
    CHECK(prompt.schema == IdeaSchema());
    CHECK(prompt.schema_name == kIdeaSchemaName);
    CHECK(prompt.sha256 ==
          Sha256Hex(prompt.messages[0].text.str() + '\0' + prompt.messages[1].text.str() + '\0' + text));
    CHECK(prompts.ProposeIdeas(request)->sha256 == prompt.sha256);
  }
}

TEST_CASE("asked again: the same question, what was kept, what was too close, how many more", "[unit]") {
  PromptSet prompts = Both();
  for (const std::string& variant : prompts.variants()) {
    INFO(variant);
    v1::ProposeIdeasRequest request = Question(variant);
    v1::Idea kept;
    kept.set_title("Warp a row");
    SimilarPair pair;
    pair.title = "Wide loads";
    pair.earlier_title = "Use float4";
    pair.earlier_outcome = "ok";
    RenderedPrompt first = prompts.ProposeIdeas(request).value();
    RenderedPrompt again = prompts.ProposeIdeasAgain(request, {kept}, {pair}).value();
    CHECK(again.messages[0].text == first.messages[0].text);
    CHECK(again.messages[1].text == first.messages[1].text);
    CHECK(again.messages[2].text.str().rfind(first.messages[2].text.str(), 0) == 0);
    CHECK_THAT(again.messages[2].text, Contains("- Warp a row") &&
                                           Contains("\"Wide loads\" is too close to \"Use float4\"") &&
                                           Contains("exactly 2"));
    CHECK(again.schema == IdeaSchema());
    CHECK_THAT(again.version, Catch::Matchers::StartsWith(first.version + "+propose_again-"));
  }
}

TEST_CASE("what is static is marked for caches and the same to the byte", "[unit]") {
  PromptSet prompts = Both();
  for (const std::string& variant : prompts.variants()) {
    INFO(variant);
    v1::ProposeIdeasRequest question = Question(variant);
    v1::ImplementIdeaRequest implement;
    *implement.mutable_call() = question.call();
    *implement.mutable_context() = question.context();
    implement.mutable_idea()->set_title("Vector loads");
    implement.set_count(4);
    v1::RepairRequest repair;
    *repair.mutable_call() = question.call();
    *repair.mutable_context() = question.context();
    repair.mutable_failed()->set_source("the failed file");
    const RenderedPrompt ideas = prompts.ProposeIdeas(question).value();
    const RenderedPrompt first = prompts.ImplementIdea(implement, 0).value();
    const RenderedPrompt fixed = prompts.Repair(repair).value();
    for (const RenderedPrompt* prompt : {&ideas, &first, &fixed}) {
      REQUIRE(prompt->messages.size() == 3);
      CHECK(prompt->messages[0].cacheable);
      CHECK(prompt->messages[1].cacheable);
      CHECK_FALSE(prompt->messages[2].cacheable);
      CHECK(prompt->messages[1].text == ideas.messages[1].text);  // one problem, whatever is asked
      // The kinds of calls share the contract at the beginning.
      CHECK(prompt->messages[0].text.str().substr(0, 3000) == ideas.messages[0].text.str().substr(0, 3000));
    }
    // Another problem, parent, history, idea, index: the same first message.
    implement.mutable_context()->mutable_problem()->set_name("another");
    implement.mutable_context()->add_operator_notes("more");
    implement.mutable_parent()->set_source("a parent");
    implement.mutable_idea()->set_title("Another");
    question.mutable_context()->add_operator_notes("more");
    question.add_tried()->mutable_idea()->set_title("x");
    question.mutable_parent()->set_source("other");
    CHECK(prompts.ImplementIdea(implement, 2)->messages[0].text == first.messages[0].text);
    CHECK(prompts.ProposeIdeas(question)->messages[0].text == ideas.messages[0].text);
    CHECK(prompts.ProposeIdeas(question)->messages[1].text == ideas.messages[1].text);
  }
}

TEST_CASE("the code prompt: the parent, one idea, which of how many", "[unit]") {
  PromptSet prompts = Both();
  for (const std::string& variant : prompts.variants()) {
    INFO(variant);
    v1::ImplementIdeaRequest request;
    request.mutable_call()->set_prompt_variant(variant);
    *request.mutable_context() = Question(variant).context();
    request.mutable_parent()->set_source("the parent's file");
    request.mutable_idea()->set_title("Vector loads");
    request.mutable_idea()->set_category("memory_access");
    request.mutable_idea()->add_plan("use float4");
    request.set_count(4);
    v1::EarlierTurn& turn = *request.add_earlier_turns();
    turn.set_source("source of a turn");
    turn.mutable_evaluation()->set_outcome(v1::OUTCOME_TIMEOUT);
    RenderedPrompt first = prompts.ImplementIdea(request, 0).value(), third = prompts.ImplementIdea(request, 2).value();
    CHECK(first.schema.is_null());
    CHECK(first.schema_name.empty());
    CHECK(first.sha256 != third.sha256);
    const std::string& text = third.messages[2].text.str();
    for (const char* words :
         {"the parent's file", "Implement only this", "Vector loads", "Step 1: use float4", "implementation 3 of 4",
          "Make yours differ", "source of a turn", "Turn 1: timeout", "prefer warp shuffles", "a bank kernel"}) {
      CHECK_THAT(text, Contains(words));
    }
    CHECK(text.find("the parent's file") < text.find("Step 1: use float4"));
    // The prompts of one idea differ at their end only, so that caches share the rest.
    CHECK(text.substr(0, text.find("implementation 3")) ==
          first.messages[2].text.str().substr(0, first.messages[2].text.str().find("implementation 1")));
    request.mutable_idea()->set_category("compute");
    CHECK_THAT(prompts.ImplementIdea(request, 0)->messages[2].text, !Contains("a bank kernel"));
  }
}

TEST_CASE("the repair prompt says what went wrong", "[unit]") {
  PromptSet prompts = Both();
  for (const std::string& variant : prompts.variants()) {
    INFO(variant);
    v1::RepairRequest request;
    request.mutable_call()->set_prompt_variant(variant);
    *request.mutable_context() = LayerNormContext();
    request.mutable_failed()->set_source("the failed file");
    request.mutable_idea()->set_title("Vector loads");
    request.set_attempt(2);
    v1::Evaluation& evaluation = *request.mutable_failed()->mutable_evaluation();
    evaluation.set_outcome(v1::OUTCOME_OUT_OF_BOUNDS);
    evaluation.set_message("the guard after `output` was written");
    CHECK_THAT(prompts.Repair(request)->messages[2].text, !Contains("Turn 1"));
    v1::EarlierTurn& turn = *request.add_earlier_turns();
    turn.set_idea_title("Bigger tiles");
    turn.mutable_evaluation()->set_outcome(v1::OUTCOME_TIMEOUT);
    CHECK_THAT(prompts.Repair(request)->messages[2].text, Contains("Turn 1 (Bigger tiles): timeout"));
    CHECK_THAT(prompts.Repair(request)->messages[2].text, Contains("epair attempt 2") && Contains("the failed file") &&
                                                              Contains("Vector loads") &&
                                                              Contains("the guard after `output` was written"));
  }
}

// What strict schemas demand: closed objects, every property required, and none of the keywords that some refuse.
void CheckStrict(const Json& schema) {
  if (schema["type"] == "object") {
    CHECK(schema["additionalProperties"] == false);
    std::vector<std::string> names;
    for (const auto& property : schema["properties"].items()) {
      names.push_back(property.key());
      CheckStrict(property.value());
    }
    CHECK(schema["required"].get<std::vector<std::string>>() == names);
  }
  if (schema["type"] == "array") CheckStrict(schema["items"]);
  for (const auto& item : schema.items()) {
    INFO(item.key());
    CHECK(
        std::set<std::string>{"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
            .count(item.key()) == 1);
  }
}

TEST_CASE("the schema of ideas is strict and names every field that is read", "[unit]") {
  CheckStrict(IdeaSchema());
  const Json& idea = IdeaSchema()["properties"]["ideas"]["items"];
  CHECK(idea["required"].size() == 9);
  for (const char* field : {"title", "category", "bottleneck", "evidence", "hypothesis", "plan", "expected_speedup",
                            "risk", "changes_precision"}) {
    CHECK(idea["properties"].contains(field));
  }
  CHECK(idea["properties"]["category"]["enum"].size() == 6);
}

}  // namespace
}  // namespace warpsmith::gateway
