// Whole pages: what is in the data is on the page, and nothing else.
#include "cli/report/search_page.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/cli/report/known_reports.h"

namespace warpsmith::cli::report {
namespace {

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// From a heading to the next.
std::string SectionOf(const std::string& page, const std::string& id) {
  const size_t begin = page.find("<section id=\"" + id + "\">");
  REQUIRE(begin != std::string::npos);
  return page.substr(begin, page.find("</section>", begin) - begin);
}

TEST_CASE("the page of a known search says what the search says", "[unit]") {
  const std::string page = SearchPage(testing::KnownSearch());
  CHECK(page == SearchPage(testing::KnownSearch()));
  CHECK(page.find("<title>40_LayerNorm: warpsmith search 3f2a91c0</title>") != std::string::npos);
  CHECK(page.find("3.00× the speed of PyTorch eager, 1.80× that of torch.compile") != std::string::npos);
  CHECK(page.find("emulated\"") == std::string::npos);
  CHECK(page.find("<dt>of the roofline</dt><dd><b>84.0 %</b> <small>memory bound</small></dd>") != std::string::npos);

  const std::string rounds = SectionOf(page, "rounds");
  CHECK(
      rounds.find("<tr class=\"gain\"><td class=\"n\">3</td><td class=\"n\">0.5000 ms</td><td class=\"n\">3.00×</td>"
                  "<td class=\"n\">1.50×</td><td class=\"n\">0.5000 ms</td><td class=\"n\">1</td><td class=\"n\">2</td>"
                  "<td class=\"n\">2</td><td class=\"n\">2</td><td class=\"n\">2</td><td class=\"wide\"><bdi>Two rows "
                  "a block</bdi></td></tr>") != std::string::npos);
  // Five valid and one screened out have a dot; what is not believed has none.
  CHECK(Count(rounds, "data-tip=\"a0") == 6);
  CHECK(Count(rounds, "data-tip=\"a000000b · 0.5000 ms, 3.00×\"") == 1);
  CHECK(rounds.find("data-tip=\"round 1: 2 not compiled; One block a row, warp shuffles for the sums\"") !=
        std::string::npos);
  CHECK(Count(rounds, "class=\"bestdot\"") == 3);

  const std::string lineage = SectionOf(page, "lineage");
  CHECK(Count(lineage, "<tr>") - 1 == 4);  // PyTorch and three kernels, below the heading
  CHECK(lineage.find("<td class=\"n\">1.67×</td>") != std::string::npos);

  const std::string sources = SectionOf(page, "sources");
  CHECK(sources.find("2 lines added, 1 removed") != std::string::npos);
  CHECK(sources.find("<ins>+  float4 row[4];</ins>") != std::string::npos);
  CHECK(sources.find("<del>-  for (int i = threadIdx.x; i &lt; 4096; i += 256) sum += x[i];</del>") !=
        std::string::npos);
  CHECK(sources.find("0 lines added, 0 removed") != std::string::npos);  // the second has its parent's text

  const std::string tree = SectionOf(page, "tree");
  CHECK(Count(tree, "<details class=\"round\">") == 3);
  CHECK(Count(tree, "<details class=\"idea\">") == 5);
  CHECK(Count(tree, "<li class=") == 12);
  CHECK(tree.find("rejected (no_code)") != std::string::npos);

  // Links of dashboards: each candidate once, one whose source is shown at its source, the others in the tree.
  const v1::SearchReport known = testing::KnownSearch();
  for (const v1::IdeaNode& node : known.ideas()) {
    for (const v1::Candidate& candidate : node.candidates()) {
      CAPTURE(candidate.id());
      CHECK(Count(page, " id=\"" + candidate.id() + "\"") == 1);
      const bool on_the_way = Count(sources, "<div id=\"" + candidate.id() + "\"></div><pre class=\"source\"") == 1;
      CHECK(on_the_way == (Count(tree, "<a href=\"#" + candidate.id() + "\">") == 1));
    }
  }
  CHECK(Count(sources, "<div id=\"") == 3);

  const std::string failures = SectionOf(page, "failures");
  CHECK(failures.find("<td class=\"n\">2</td><td class=\"some\">compile_error (source)</td>") != std::string::npos);
  CHECK(failures.find("identifier &quot;rown&quot; is undefined") != std::string::npos);

  const std::string cost = SectionOf(page, "cost");
  CHECK(cost.find("<dt>dollars</dt><dd><b>$3.25</b></dd>") != std::string::npos);
  CHECK(cost.find("1,234,567") != std::string::npos);
  CHECK(cost.find("<dt>GPU seconds</dt><dd><b>412.5</b></dd>") != std::string::npos);
  CHECK(cost.find("<td>implement</td><td>model-a</td><td class=\"n\">12</td><td class=\"n\">1</td>"
                  "<td class=\"n\">1,000,000</td><td class=\"n\">400,000</td><td class=\"n\">$2.50</td><td "
                  "class=\"n\">40.0 s</td>") != std::string::npos);

  const std::string profile = SectionOf(page, "profile");
  CHECK(profile.find("2.5 operations a byte, 10 TFLOP/s, 83.3 % of the roof") != std::string::npos);
  CHECK(profile.find("<td>DRAM throughput</td><td class=\"n\">83.3</td><td>% of peak</td>") != std::string::npos);
  CHECK(profile.find("fp32 peak 67 TFLOP/s, 4.8 TB/s") != std::string::npos);
}

TEST_CASE("what is missing is a dash and never a zero", "[unit]") {
  const std::string empty = SearchPage(testing::EmptySearch());
  CHECK(empty.find("<dt>best kernel</dt><dd><b>–</b></dd>") != std::string::npos);
  CHECK(empty.find("<dt>to PyTorch eager</dt><dd><b>–</b></dd>") != std::string::npos);
  CHECK(empty.find("0.00×") == std::string::npos);
  CHECK(empty.find("0.0 s") == std::string::npos);
  CHECK(empty.find("<figure") == std::string::npos);
  CHECK(empty.find("id=\"tree\"") == std::string::npos);
  CHECK(empty.find("being taken in") != std::string::npos);
  const std::string failed = SearchPage(testing::FailedSearch());
  CHECK(failed.find("<p class=\"verdict\">The search failed: 95_CrossEntropyLoss.py, line 12") != std::string::npos);

  v1::SearchReport late = testing::KnownSearch();  // a first round without a kernel
  v1::RoundSummary* first = late.mutable_search()->mutable_rounds(0);
  first->clear_best_ms();
  first->clear_best_ratio_to_eager();
  first->clear_round_best_ms();
  const std::string rounds = SectionOf(SearchPage(late), "rounds");
  CHECK(rounds.find("<td class=\"n\">1</td><td class=\"n\">–</td><td class=\"n\">–</td><td class=\"n\">–</td>") !=
        std::string::npos);
  CHECK(rounds.find("Round 1: no kernel yet.") != std::string::npos);
  CHECK(Count(rounds, "class=\"bestdot\"") == 2);
}

TEST_CASE("hostile text stays text", "[unit]") {
  const std::string page = SearchPage(testing::HostileSearch());
  CHECK(Count(page, "<script") == 1);
  CHECK(Count(page, "</script") == 1);
  CHECK(Count(page, "<img") == 0);
  CHECK(Count(page, "<!--") == 0);
  CHECK(Count(page, "\" onmouseover=\"") == 0);
  CHECK(Count(page, "\xE2\x80\xAE") == 0);
  CHECK(Count(page, "\x1b") == 0);
  CHECK(page.find("[U+202E]") != std::string::npos);
  CHECK(page.find("{{script}}") != std::string::npos);
  CHECK(page.find("more characters)") != std::string::npos);
  for (size_t at = page.find("href=\""); at != std::string::npos; at = page.find("href=\"", at + 1)) {
    CHECK(page[at + 6] == '#');
  }
}

TEST_CASE("an emulated search is labelled wherever its figures stand out", "[unit]") {
  const std::string page = SearchPage(testing::LargeSearch(60));
  CHECK(page.find("<span class=\"badge emulated\"") != std::string::npos);
  CHECK(page.find("such times rank kernels on a CPU and say nothing of a GPU") != std::string::npos);
  CHECK(page.find("device seconds (emulated)") != std::string::npos);
}

TEST_CASE("what a page leaves out is told with its count", "[unit]") {
  ReportLimits limits;
  limits.tree_candidates = 10;
  limits.plot_candidates = 10;
  limits.failure_classes = 1;
  limits.source_bytes = 20;
  limits.idea_rows = 5;
  const std::string large = SearchPage(testing::LargeSearch(60), limits);
  CHECK(Count(SectionOf(large, "tree"), "<li class=") == 10);
  CHECK(large.find("50 more implementations are not shown: a page takes 10.") != std::string::npos);
  CHECK(large.find("60 candidates are too many to be drawn one by one") != std::string::npos);
  CHECK(large.find("1 more classes with ") != std::string::npos);
  CHECK(large.find("round 1: 2 ideas") != std::string::npos);
  const std::string known = SearchPage(testing::KnownSearch(), limits);
  CHECK(known.find("20 of ") != std::string::npos);
  CHECK(known.find("more lines are not shown.") != std::string::npos);
  limits.sources_bytes = 30;
  CHECK(SearchPage(testing::KnownSearch(), limits).find("2 more sources are not shown") != std::string::npos);
}

TEST_CASE("a page of 13,500 candidates stays below ten megabytes", "[unit]") {
  const std::string page = SearchPage(testing::LargeSearch(13'500));
  CHECK(Count(page, "<li class=") == 13'500);
  CHECK(page.size() < 10u << 20);
  CHECK(page.find("13,500") != std::string::npos);
}

}  // namespace
}  // namespace warpsmith::cli::report
