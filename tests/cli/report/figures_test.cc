// Figures of known reports.
#include "cli/report/figures.h"

#include <catch2/catch.hpp>

#include "cli/report/batch_figures.h"
#include "cli/report/sections.h"
#include "common/fast_p.h"
#include "tests/cli/report/known_reports.h"

namespace warpsmith::cli::report {
namespace {

TEST_CASE("a search's figures are its data's", "[unit]") {
  const v1::SearchReport report = testing::KnownSearch();
  const SearchFigures figures(report);
  CHECK(figures.eager_ms == 1.5);
  CHECK(figures.device == "NVIDIA H200");
  CHECK(figures.precision == "fp32");
  CHECK(figures.candidates == 12);
  const auto count = [&](Fate fate) { return figures.fates[static_cast<int>(fate)]; };
  CHECK(count(Fate::kValid) == 5);
  CHECK(count(Fate::kScreened) == 1);
  CHECK(count(Fate::kNotCompiled) == 2);
  CHECK(count(Fate::kWrong) == 1);
  CHECK(count(Fate::kNoFile) == 1);
  CHECK(count(Fate::kSuspicious) == 1);
  CHECK(count(Fate::kMachine) == 1);
  CHECK(count(Fate::kPending) == 0);
  CHECK(figures.faster_than_parent == 4);  // 1.25 than eager, 0.75, 0.5, 0.6

  REQUIRE(figures.ideas.size() == 5);
  CHECK(figures.ideas[0].outcome == "1 of 3 correct");
  CHECK(figures.ideas[0].ratio_to_parent == 0.75);
  CHECK_FALSE(figures.ideas[0].on_lineage);
  CHECK(figures.ideas[2].ms == 0.75);  // the screened one does not count beside a valid one
  CHECK(figures.ideas[2].ratio == 2.0);
  CHECK(figures.ideas[2].ratio_to_parent == Approx(1.25 / 0.75));
  CHECK(figures.ideas[2].on_lineage);
  CHECK(figures.ideas[3].outcome == "1 × infra_error (worker), 1 other");
  CHECK(figures.ideas[3].ms == 0);  // a time that is not believed is none

  REQUIRE(figures.Find("compile_default") != nullptr);
  CHECK(figures.Find("eager")->ratio == Approx(3.0));
  CHECK(figures.Find("compile_default")->ratio == Approx(1.8));
  CHECK(figures.Find("library")->ratio == Approx(1.5));
  CHECK(figures.Find("compile_max_autotune")->ratio == 0);

  REQUIRE(figures.failures.size() == 5);
  CHECK(figures.failures[0].outcome == "compile_error (source)");
  CHECK(figures.failures[0].count == 2);
  CHECK(figures.failures[0].message == "candidate.cu(12): error: identifier \"rown\" is undefined");
}

TEST_CASE("the verdict is one that can be quoted", "[unit]") {
  const v1::SearchReport known = testing::KnownSearch();
  CHECK(
      Verdict(SearchFigures(known)) ==
      "The best kernel takes 0.5000 ms in class fp32, 3.00× the speed of PyTorch eager, 1.80× that of torch.compile "
      "and "
      "1.50× that of the library call, on NVIDIA H200. Confirmed in turn with PyTorch on the same inputs: 2.98× (95 % "
      "between 2.95× and 3.02×).");
  const v1::SearchReport empty = testing::EmptySearch();
  CHECK(Verdict(SearchFigures(empty)) == "The problem is being taken in; no kernel has been tried.");
  const v1::SearchReport failed = testing::FailedSearch();
  CHECK(Verdict(SearchFigures(failed)) ==
        "The search failed: 95_CrossEntropyLoss.py, line 12: forward() raised RuntimeError");
  v1::SearchReport barren = known;
  barren.mutable_search()->clear_best_ms();
  barren.mutable_search()->clear_best_candidate_id();
  CHECK(Verdict(SearchFigures(barren)) ==
        "The search ended without a valid kernel: 6 of 12 candidates failed, most as compile_error (source).");
  const v1::SearchReport emulated = testing::LargeSearch(50);
  CHECK(Verdict(SearchFigures(emulated)).find("say nothing of a GPU") != std::string::npos);
}

TEST_CASE("baselines of another device give no ratio", "[unit]") {
  v1::SearchReport report = testing::KnownSearch();
  report.mutable_search()->mutable_problem()->mutable_baselines(1)->set_emulated(true);
  CHECK(SearchFigures(report).Find("compile_default")->ratio == 0);
}

TEST_CASE("ratios and times are told in few digits, and what is missing as a dash", "[unit]") {
  CHECK(RatioText(0) == "–");
  CHECK(RatioText(0.0123) == "0.0123×");
  CHECK(RatioText(0.97) == "0.97×");
  CHECK(RatioText(9.99) == "9.99×");
  CHECK(RatioText(12.44) == "12.4×");
  CHECK(RatioText(484.2) == "484×");
  CHECK(MsText(0) == "–");
  CHECK(MsText(0.5) == "0.5000 ms");
}

TEST_CASE("where nothing was left to write, nothing failed", "[unit]") {
  const v1::SearchReport known = testing::KnownSearch();
  const SearchFigures before(known);
  v1::SearchReport report = known;
  v1::Candidate* none = report.mutable_ideas(0)->add_candidates();
  none->set_id("exhausted");
  none->set_state("rejected");
  none->set_reject_reason("exhausted");
  CHECK(FateOf(*none) == Fate::kNothingLeft);
  const SearchFigures after(report);
  CHECK(after.failures.size() == before.failures.size());
  CHECK(after.ideas[0].outcome == before.ideas[0].outcome);
  CHECK(Funnel(after).text() == Funnel(before).text());
}

TEST_CASE("a batch's figures are its data's", "[unit]") {
  const v1::BatchReport report = testing::KnownBatch();
  const BatchFigures figures(report);
  CHECK(figures.problems.size() == 12);
  CHECK(figures.ratios.size() == 9);
  CHECK(figures.compared == 9);
  CHECK(figures.rounds == 3);
  for (const double p : {0.0, 1.0, 1.5, 2.0}) {
    const v1::BatchTotals& totals = report.batch().totals();
    const double told = p == 0     ? totals.fast_0()
                        : p == 1   ? totals.fast_1()
                        : p == 1.5 ? totals.fast_1_5()
                                   : totals.fast_2();
    CHECK(FastP(figures.ratios, 12, p) == Approx(told));
  }
  CHECK(figures.with_compile == 10);
  CHECK(figures.compile_ratios.size() == 9);
  CHECK(figures.problems[6].ratio_to_compile == Approx(1.8));
  CHECK(figures.problems[8].best_by_round.at(1) == 0);
  CHECK(figures.problems[8].best_by_round.count(2) == 0);
  CHECK(
      BatchVerdict(figures).rfind(
          "9 of 12 problems have a correct kernel; 7 beat PyTorch eager (fast_1 0.583), 4 by more than 1.5× (fast_1.5 "
          "0.333), 2 by more than 2× (fast_2 0.167). Geometric mean over the 9 that have a kernel: 1.72×.",
          0) == 0);
}

}  // namespace
}  // namespace warpsmith::cli::report
