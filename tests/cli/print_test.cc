#include <catch2/catch.hpp>
#include <sstream>

#include "cli/names.h"
#include "cli/print_bank.h"
#include "cli/print_cluster.h"
#include "cli/print_evaluation.h"
#include "cli/print_search.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "tests/cli/fake_operator_service.h"

namespace warpsmith::cli {
namespace {

void CheckFits(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(DisplayWidth(line) <= kPageWidth);
    CHECK((line.empty() || line.back() != ' '));
  }
}

}  // namespace

TEST_CASE("the report", "[unit]") {
  const std::string text = ReportText(FakeSearch(), "/data/kernels/layer_norm-3f2a91c0.cu");
  CHECK(text ==
        "layer_norm: search 3f2a91c0, done: all rounds ran; best 0.5000 ms, 200.0 % of PyTorch (emulated)\n"
        "device: emulated (times are not a GPU's); took 1 min 12 s; 18 model calls, 1.2M tokens in, 45k out,\n"
        "  $1.50\n"
        "\n"
        "round  ideas  generated  compiled  correct  faster  best ms  of PyTorch (emulated)\n"
        "    1      4          8         7        5       5    1.250                 80.0 %\n"
        "    2      4          8         7        5       1   0.5000                200.0 %\n"
        "\n"
        "Ideas tried\n"
        "  round 1  - One block a row, warp shuffles for the sums\n"
        "           - Load four floats at once\n"
        "  round 2  - Keep the row in registers\n"
        "\n"
        "Trajectory: each round's best\n"
        "round      ms  of PyTorch (emulated)  idea\n"
        "    -   1.000                100.0 %  PyTorch, eager\n"
        "    1   1.250                 80.0 %  One block a row, warp shuffles for the sums\n"
        "    2  0.5000                200.0 %  Keep the row in registers\n"
        "\n"
        "winner: /data/kernels/layer_norm-3f2a91c0.cu\n");
  CheckFits(text);
}

TEST_CASE("an idea that several parents were given is told once", "[unit]") {
  v1::Search search = FakeSearch();
  search.mutable_rounds(1)->add_idea_titles("Keep the row in registers");
  CHECK_THAT(ReportText(search, ""), Catch::Contains("  round 2  - Keep the row in registers (2 times)\n\n"));
}

TEST_CASE("a report without a kernel says where to look", "[unit]") {
  v1::Search search = FakeSearch();
  search.clear_best_candidate_id();
  search.clear_best_ms();
  search.clear_best_ratio_to_eager();
  search.mutable_problem()->clear_baselines();
  for (v1::RoundSummary& round : *search.mutable_rounds()) round.clear_round_best_ms();
  const std::string text = ReportText(search, "");
  CHECK_THAT(text, Catch::Contains("; no valid kernel\n") && Catch::Contains("warpsmith explain 3f2a91c0") &&
                       Catch::Contains("no valid kernel") && !Catch::Contains("winner"));
  CheckFits(text);
}

TEST_CASE("the tree", "[unit]") {
  const std::string text = TreeText(FakeTree());
  CHECK(text ==
        "layer_norm: search 3f2a91c0, done: all rounds ran; best 0.5000 ms, 200.0 % of PyTorch (emulated)\n"
        "* leads to the best; r: round; #: which implementation\n"
        "└ r1 One block a row [parallelism_occupancy]\n"
        "  * beefbeef#0 ok 1.250 ms 80.0 %\n"
        "    └ r2 Keep the row in registers [memory_access]\n"
        "      * c0ffee12#1 ok 0.5000 ms 200.0 %\n"
        "      · 0badc0de#1 rejected (no_code)\n"
        "  · deadbeef#1 compile_error (source)\n");
}

TEST_CASE("a tree that loops or hangs on the bank is printed to its end", "[unit]") {
  v1::Tree tree;
  for (const char* name : {"aaaaaaaa", "bbbbbbbb"}) {
    v1::IdeaNode& node = *tree.add_ideas();
    node.set_parent_id(name[0] == 'a' ? "bbbbbbbb" : "aaaaaaaa");
    node.add_candidates()->set_id(name);
  }
  CHECK_THAT(TreeText(tree), Catch::Contains("on bbbbbbbb") && Catch::Contains("· aaaaaaaa#0"));
}

TEST_CASE("a verdict", "[unit]") {
  CHECK(EvaluationText(FakeCandidate().evaluation()) ==
        "verdict: ok\n"
        "  time          0.5000 ms (spread 0.4 %, 40 samples, stage measure)\n"
        "  device        emulated (emulated: not a GPU's time)\n"
        "  of PyTorch    200.0 % (emulated)\n"
        "  of best       160.0 % of compile_default\n"
        "  precision     fp32\n"
        "  flags         nondeterministic\n"
        "  inputs     passed  RMS error  worst tile   largest\n"
        "  plain      2 of 2   2.00e-07    2.00e-07  3.00e-07\n"
        "  mean_1000  1 of 1   3.00e-07    2.00e-07  3.00e-07\n");
}

TEST_CASE("a failed verdict tells why and where", "[unit]") {
  v1::Evaluation evaluation;
  evaluation.set_outcome(v1::OUTCOME_WRONG_OUTPUT);
  evaluation.set_reason("plain");
  evaluation.set_message("step 1 (ln_apply):\nthe last tile is wrong\x1b[2J");
  v1::Mismatch& mismatch = *evaluation.mutable_mismatch();
  mismatch.set_output("output");
  mismatch.add_index(3);
  mismatch.add_index(1023);
  mismatch.set_expected(0.5);
  mismatch.set_wrong_elements(24);
  mismatch.set_elements(4096);
  evaluation.mutable_compile()->set_log("candidate.cu(3): warning\n");
  CHECK(EvaluationText(evaluation) ==
        "verdict: wrong_output (plain)\n"
        "  step 1 (ln_apply):\n"
        "  the last tile is wrong [2J\n"
        "  differs       output[3, 1023]: expected 0.5, got 0; 24 of 4096 elements are wrong\n"
        "  compiler's log\n"
        "    candidate.cu(3): warning\n");
}

TEST_CASE("a problem", "[unit]") {
  v1::Problem problem;
  problem.set_name("softmax");
  v1::ProblemSignature& signature = *problem.mutable_signature();
  signature.set_operator_family("softmax");
  v1::TensorSpec& x = *signature.add_tensors();
  x.set_name("x");
  x.set_dtype("float32");
  x.add_shape(64);
  x.add_shape(1024);
  x.set_role(v1::TENSOR_ROLE_INPUT);
  signature.add_distributions("plain");
  CHECK(ProblemText(problem) ==
        "problem softmax (softmax)\n"
        "  tensor  role   dtype    shape\n"
        "  x       input  float32  64 × 1024\n"
        "  judged on     plain\n");
}

TEST_CASE("other pages fit and name what matters", "[unit]") {
  const std::string explanation = ExplanationText(FakeExplanation());
  CHECK_THAT(explanation, Catch::Contains("- Three of sixteen") && Catch::Contains("wrong_output") &&
                              Catch::Contains("spread of timings: 1.2 %") &&
                              Catch::Contains("last round's gain: 1.500×"));
  CheckFits(explanation);
  const std::string status = StatusText(FakeStatus(), "unix:/run/x.sock");
  CHECK_THAT(status, Catch::Contains("worker-0  connected") && Catch::Contains("gateway: reachable") &&
                         Catch::Contains("evaluate"));
  CheckFits(status);
  v1::ClusterStatus down;
  down.set_gateway_error("connection refused");
  CHECK_THAT(StatusText(down, "a"),
             Catch::Contains("not reachable: connection refused") && Catch::Contains("no workers"));
  CheckFits(CandidateText(FakeCandidate()) + IdeaText(FakeCandidate().idea()));
  CHECK(BankText({}) == "the bank has no such kernels\n");
  CHECK(SearchesText({}) == "no searches\n");
}

TEST_CASE("names", "[unit]") {
  CHECK(OutcomeName(v1::OUTCOME_NEEDS_GPU) == "needs_gpu");
  CHECK(SearchStateName(v1::SEARCH_STATE_INTAKE) == "intake");
  CHECK(PrecisionClassName(v1::PRECISION_CLASS_BF16) == "bf16");
  CHECK(OutcomeName(static_cast<v1::Outcome>(99)) == "unknown");
  CHECK(*ParsePrecision("fp16") == v1::PRECISION_CLASS_TF32);
  CHECK_THAT(Message(ParsePrecision("fp8").status()), Catch::Contains("fp32, tf32, fp16 or bf16"));
}

TEST_CASE("progress: plain lines in a file, one redrawn line on a terminal", "[unit]") {
  v1::SearchEvent event;
  *event.mutable_search() = FakeSearch();
  event.mutable_search()->set_state(v1::SEARCH_STATE_RUNNING);
  event.set_tasks_running(1);
  event.set_tasks_waiting(3);
  CHECK(StatusLine(event) ==
        "round 2/2 · 4 ideas, 8 kernels, 5 correct · 1 running, 3 waiting · best 0.5000 ms, 200.0 % of PyTorch "
        "(emulated) · $1.50");
  FakeClock clock;
  std::ostringstream plain;
  {
    Progress progress(plain, false, clock);
    progress.OnEvent(event);
    progress.OnEvent(event);
    progress.Tick();
    event.set_line("hello\x1b[1m");
    progress.OnEvent(event);
    progress.OnEvent(event);
  }
  CHECK(plain.str() == StatusLine(event) + "\nhello [1m\n");
  std::ostringstream terminal;
  {
    Progress progress(terminal, true, clock);
    event.clear_line();
    progress.OnEvent(event);
    clock.Advance(std::chrono::seconds(1));
    progress.Tick();
  }
  CHECK_THAT(terminal.str(), Catch::StartsWith("0.0 s · round 2/2") && Catch::Contains("\r\033[K1.0 s · round 2/2") &&
                                 Catch::EndsWith("\r\033[K") && !Catch::Contains("\n"));
}

}  // namespace warpsmith::cli
