#include "cli/report/batch_page.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/cli/report/known_reports.h"

namespace warpsmith::cli::report {
namespace {

TEST_CASE("the page of a known batch says what the batch says", "[unit]") {
  const std::string page = BatchPage(testing::KnownBatch());
  CHECK(page == BatchPage(testing::KnownBatch()));
  CHECK(page.find("<title>level1: warpsmith batch b7c1d2e3</title>") != std::string::npos);
  for (const char* tile :
       {"<dt>fast_1</dt><dd><b>0.583</b>", "<dt>fast_1.5</dt><dd><b>0.333</b>", "<dt>fast_2</dt><dd><b>0.167</b>",
        "<dt>geometric mean</dt><dd><b>1.72×</b> <small>over the 9 with a kernel</small>",
        "<dt>dollars</dt><dd><b>$25.75</b> <small>of at most $50.00</small>",
        "<dt>GPU seconds</dt><dd><b>3184.2</b>"}) {
    INFO(tile);
    CHECK(page.find(tile) != std::string::npos);
  }
  // The curve's table: eager by the batch's figures; torch.compile over 0.8 of eager's time, none where it was not
  // timed.
  CHECK(
      page.find(
          "<td>against PyTorch eager</td><td class=\"n\">0.750</td><td class=\"n\">0.583</td><td class=\"n\">0.333</td>"
          "<td class=\"n\">0.167</td>") != std::string::npos);
  CHECK(page.find("torch.compile was timed on 10 of 12 problems; the others count as not faster than it.") !=
        std::string::npos);
  // The map: a failed search has no rounds, one without a kernel a dash.
  CHECK(page.find("<td class=\"name\"><a href=\"#p9\">level1/54_conv_standard_3D__square_input__square_kernel</a></td>"
                  "<td class=\"n h-none\">–</td><td class=\"n h-off\"></td><td class=\"n h-off\"></td>") !=
        std::string::npos);
  CHECK(page.find("<td class=\"name\"><a href=\"#p2\">level1/12_Matmul_with_diagonal_matrices_</a></td>"
                  "<td class=\"n h6\">9.92×</td><td class=\"n h6\">11.2×</td><td class=\"n h6\">12.4×</td>") !=
        std::string::npos);
  CHECK(page.find("failed: forward() raised RuntimeError") != std::string::npos);
  CHECK(page.find("<div id=\"p7\"></div>") != std::string::npos);
  CHECK(page.find("Two rows a block") != std::string::npos);
  CHECK(page.find("0.00×") == std::string::npos);
}

TEST_CASE("a batch whose searches could not be read says so", "[unit]") {
  v1::BatchReport report = testing::KnownBatch();
  report.mutable_searches()->DeleteSubrange(0, 2);
  const std::string page = BatchPage(report);
  CHECK(page.find("2 problems have no section") != std::string::npos);
  CHECK(page.find("href=\"#p1\"") == std::string::npos);
  v1::BatchReport nothing;
  CHECK(BatchPage(nothing).find("The batch has no problems.") != std::string::npos);
}

}  // namespace
}  // namespace warpsmith::cli::report
