// report_pages DIR: writes the pages of known reports into DIR, for browser_test.py.
#include <filesystem>
#include <iostream>
#include <string>

#include "cli/report/batch_page.h"
#include "cli/report/search_page.h"
#include "common/file.h"
#include "tests/cli/report/known_reports.h"

int main(int argc, char** argv) {
  using namespace warpsmith;
  if (argc != 2) {
    std::cerr << "report_pages DIR" << std::endl;
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const std::pair<const char*, std::string> pages[] = {
      {"known", cli::report::SearchPage(testing::KnownSearch())},
      {"hostile", cli::report::SearchPage(testing::HostileSearch())},
      {"empty", cli::report::SearchPage(testing::EmptySearch())},
      {"failed", cli::report::SearchPage(testing::FailedSearch())},
      {"large", cli::report::SearchPage(testing::LargeSearch(13'500))},
      {"batch", cli::report::BatchPage(testing::KnownBatch())},
  };
  for (const auto& [name, page] : pages) {
    if (const absl::Status written = WriteFileAtomically(folder / (std::string(name) + ".html"), page); !written.ok()) {
      std::cerr << Message(written) << std::endl;
      return 1;
    }
  }
  return 0;
}
