#include "cli/transfer/training_rows.h"

#include <catch2/catch.hpp>

namespace warpsmith::transfer {
namespace {

v1::ExportRow SearchRow(const std::string& name = "softmax") {
  v1::ExportRow row;
  v1::ExportedSearch* search = row.mutable_search();
  search->set_search_id("s1");
  search->mutable_problem()->set_name(name);
  search->mutable_problem()->set_source("class Model: pass  # " + name + "\n");
  search->mutable_device()->set_name("NVIDIA H200");
  search->mutable_device()->set_driver("580.1");
  search->mutable_device()->set_compute_capability(90);
  search->add_accepted(v1::PRECISION_CLASS_FP32);
  return row;
}

v1::ExportRow CandidateRow(const std::string& id, const std::string& idea, v1::Outcome outcome, double ms,
                           const std::string& parent = "") {
  v1::ExportRow row;
  v1::Candidate* candidate = row.mutable_candidate()->mutable_candidate();
  candidate->set_id(id);
  candidate->set_idea_id(idea);
  candidate->set_parent_id(parent);
  candidate->set_model("model-x");
  candidate->set_source("/* warpsmith-plan {} */ // " + id + "\n");
  candidate->mutable_idea()->set_title("idea " + idea);
  candidate->mutable_evaluation()->set_outcome(outcome);
  candidate->mutable_evaluation()->mutable_timing()->set_median_ms(ms);
  candidate->mutable_evaluation()->set_ratio_to_eager(ms > 0 ? 1 / ms : 0);
  candidate->mutable_evaluation()->set_harness_rev("h2");
  row.mutable_candidate()->mutable_call()->set_model("model-x");
  row.mutable_candidate()->mutable_call()->set_prompt_version("default/contract-2");
  if (!parent.empty()) {
    row.mutable_candidate()->mutable_parent()->set_candidate_id(parent);
    row.mutable_candidate()->mutable_parent()->set_source("// parent\n");
  }
  return row;
}

struct Made {
  std::vector<Json> rows;
  LeftOut left_out;
};

Made Make(RowRules rules, const std::vector<v1::ExportRow>& given) {
  static const auto& prompts = *new absl::StatusOr<TrainingPrompts>(TrainingPrompts::LoadShipped());
  REQUIRE(prompts.ok());
  Made made;
  TrainingRows rows(std::move(rules), *prompts, [&](const Json& row) {
    made.rows.push_back(row);
    return absl::OkStatus();
  });
  for (const v1::ExportRow& row : given) REQUIRE(rows.Take(row).ok());
  REQUIRE(rows.Finish().ok());
  REQUIRE(rows.rows() == static_cast<int64_t>(made.rows.size()));
  made.left_out = rows.left_out();
  return made;
}

RowRules Rules(RowFormat format) {
  RowRules rules;
  rules.format = format;
  return rules;
}

TEST_CASE("what is suspicious, held out or not judged makes no row in any format", "[unit]") {
  for (const RowFormat format : {RowFormat::kSft, RowFormat::kPreference, RowFormat::kRl, RowFormat::kArchive}) {
    v1::ExportRow flagged = CandidateRow("c2", "i1", v1::OUTCOME_OK, 1);
    flagged.mutable_candidate()->mutable_candidate()->mutable_evaluation()->add_flags("host_code");
    v1::ExportRow screened = CandidateRow("c5", "i1", v1::OUTCOME_OK, 1);
    screened.mutable_candidate()->mutable_candidate()->mutable_evaluation()->set_reason("screened");
    v1::ExportRow key = CandidateRow("c6", "i1", v1::OUTCOME_OK, 1);
    key.mutable_candidate()->mutable_candidate()->set_source("// sk-a1b2c3d4e5f6g7h8i9j0k1l2\n");
    Made made = Make(Rules(format), {SearchRow(), CandidateRow("c1", "i1", v1::OUTCOME_SUSPICIOUS, 1), flagged,
                                     CandidateRow("c3", "i1", v1::OUTCOME_INFRA_ERROR, 0),
                                     CandidateRow("c4", "i1", v1::OUTCOME_NEEDS_GPU, 0), screened, key});
    CHECK(made.rows.empty());
    CHECK(made.left_out == LeftOut{{"suspicious", 1},
                                   {"host_code", 1},
                                   {"infra_error", 1},
                                   {"needs_gpu", 1},
                                   {"screened", 1},
                                   {"looks secret", 1}});
    RowRules rules = Rules(format);
    rules.split.held_out = {"softmax"};
    made = Make(rules, {SearchRow(), CandidateRow("c1", "i1", v1::OUTCOME_OK, 1)});
    CHECK(made.rows.empty());
    CHECK(made.left_out == LeftOut{{"held out", 1}});
    v1::ExportRow degenerate = SearchRow();
    degenerate.mutable_search()->mutable_problem()->mutable_signature()->set_degenerate(true);
    CHECK(Make(Rules(format), {degenerate, CandidateRow("c1", "i1", v1::OUTCOME_OK, 1)}).rows.empty());
  }
}

TEST_CASE("sft rows are correct kernels with prompt, answer and origin", "[unit]") {
  const Made made = Make(Rules(RowFormat::kSft), {SearchRow(), CandidateRow("c1", "i1", v1::OUTCOME_OK, 0.5, "p1"),
                                                  CandidateRow("c2", "i1", v1::OUTCOME_WRONG_OUTPUT, 0)});
  REQUIRE(made.rows.size() == 1);
  const Json& row = made.rows[0];
  REQUIRE(row["messages"].size() == 3);
  CHECK(row["messages"][0]["role"] == "system");
  CHECK(row["messages"][1]["role"] == "user");
  CHECK_THAT(row["messages"][1]["content"].get<std::string>(),
             Catch::Contains("idea i1") && Catch::Contains("// parent") && Catch::Contains("class Model"));
  CHECK(row["messages"][2]["role"] == "assistant");
  CHECK_THAT(row["messages"][2]["content"].get<std::string>(), Catch::Contains("warpsmith-plan"));
  for (const char* key : {"model", "gpu", "driver", "harness_rev", "judge_rev", "prompt_version", "price_id", "pytorch",
                          "cuda", "warpsmith", "problem_sha256", "row_prompt_version"}) {
    CHECK(row["meta"].contains(key));
  }
  CHECK(row["meta"]["model"] == "model-x");
  CHECK(row["meta"]["driver"] == "580.1");
  CHECK((row["split"] == "train" || row["split"] == "validation"));
  RowRules rules = Rules(RowFormat::kSft);
  rules.min_ratio = 3;
  CHECK(Make(rules, {SearchRow(), CandidateRow("c1", "i1", v1::OUTCOME_OK, 0.5)}).rows.empty());
}

TEST_CASE("pairs share idea and parent: faster by 1.2, or right against wrong", "[unit]") {
  v1::ExportRow repair = CandidateRow("c9", "i1", v1::OUTCOME_OK, 0.1);
  repair.mutable_candidate()->mutable_repaired()->set_candidate_id("c3");
  const Made made = Make(
      Rules(RowFormat::kPreference),
      {SearchRow(), CandidateRow("c1", "i1", v1::OUTCOME_OK, 1.0), CandidateRow("c2", "i1", v1::OUTCOME_OK, 1.19),
       CandidateRow("c3", "i1", v1::OUTCOME_OK, 1.2), CandidateRow("c4", "i1", v1::OUTCOME_WRONG_OUTPUT, 0),
       CandidateRow("c5", "i1", v1::OUTCOME_OUT_OF_MEMORY, 0), repair, CandidateRow("c6", "i2", v1::OUTCOME_OK, 0.2),
       CandidateRow("c7", "i2", v1::OUTCOME_COMPILE_ERROR, 0, "other parent")});
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Json& row : made.rows) {
    pairs.emplace_back(row["meta"]["candidate_id"], row["meta"]["rejected"]["candidate_id"]);
    CHECK(row["prompt"].size() == 2);
    CHECK(row["chosen"][0]["role"] == "assistant");
    CHECK(row["rejected"][0]["role"] == "assistant");
  }
  CHECK(pairs ==
        std::vector<std::pair<std::string, std::string>>{{"c1", "c3"}, {"c1", "c4"}, {"c2", "c4"}, {"c3", "c4"}});
  CHECK(made.rows[0]["meta"]["reason"] == "faster");
  CHECK(made.rows[0]["meta"]["ratio"] == 1.2);
  CHECK(made.rows[1]["meta"]["reason"] == "correct");
}

TEST_CASE("a turn's return is its reward and its best next turn's, discounted", "[unit]") {
  v1::ExportRow repair = CandidateRow("r", "i2", v1::OUTCOME_OK, 0.5, "a");
  repair.mutable_candidate()->mutable_candidate()->set_repair_of("b");
  repair.mutable_candidate()->mutable_repaired()->set_candidate_id("b");
  // Children come first: r repairs b, b and c were made from a.
  const Made made = Make(Rules(RowFormat::kRl), {SearchRow(), repair, CandidateRow("c", "i2", v1::OUTCOME_OK, 1.0, "a"),
                                                 CandidateRow("b", "i2", v1::OUTCOME_WRONG_OUTPUT, 0, "a"),
                                                 CandidateRow("x", "i2", v1::OUTCOME_SUSPICIOUS, 0.001, "a"),
                                                 CandidateRow("a", "i1", v1::OUTCOME_OK, 2.0)});
  REQUIRE(made.rows.size() == 4);
  const auto value = [&](size_t i, const char* key) { return made.rows[i][key].get<double>(); };
  CHECK(value(0, "reward") == Approx(2.3));
  CHECK(value(0, "return") == Approx(2.3));
  CHECK(made.rows[0]["parent_turn_id"] == "b");
  CHECK(value(1, "return") == Approx(1.3));
  CHECK(value(2, "reward") == 0);
  CHECK(value(2, "return") == Approx(0.4 * 2.3));
  CHECK(value(3, "reward") == Approx(0.8));
  CHECK(value(3, "return") == Approx(0.8 + 0.4 * 1.3));
  CHECK(made.rows[3]["reward_parts"]["correct"] == 0.3);
}

TEST_CASE("archive rows have the archive's columns, wrong kernels too", "[unit]") {
  v1::ExportRow search = SearchRow();
  v1::Baseline* eager = search.mutable_search()->mutable_problem()->add_baselines();
  eager->set_name("eager");
  eager->set_median_ms(1.0);
  v1::ExportRow wrong = CandidateRow("c2", "", v1::OUTCOME_WRONG_OUTPUT, 0);
  wrong.mutable_candidate()->mutable_candidate()->mutable_evaluation()->set_message("see /home/me/x.cu");
  const Made made = Make(Rules(RowFormat::kArchive), {search, CandidateRow("c1", "i1", v1::OUTCOME_OK, 0.5), wrong});
  REQUIRE(made.rows.size() == 2);
  for (const char* column :
       {"Op_Name", "Level_ID", "Task_ID", "Kernel_Name", "CUDA_Runtime", "PyTorch_Native_Runtime",
        "PyTorch_Compile_Runtime", "CUDA_Speedup_Native", "CUDA_Speedup_Compile", "CUDA_Code", "PyTorch_Code_Module",
        "PyTorch_Code_Functional", "Correct", "Max_Diff", "Error", "NCU_Profile", "Torch_Profile", "Clang_Tidy"}) {
    CHECK(made.rows[0].contains(column));
  }
  CHECK(made.rows[0]["CUDA_Speedup_Native"] == 2.0);
  CHECK(made.rows[0]["PyTorch_Compile_Runtime"].is_null());
  CHECK(made.rows[1]["Correct"] == false);
  CHECK(made.rows[1]["Error"] == "wrong_output: see [path]");
}

}  // namespace
}  // namespace warpsmith::transfer
