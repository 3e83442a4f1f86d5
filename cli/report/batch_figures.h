// What a batch's page says in numbers, worked out once from the data.
// Threading: plain values; figures point into the report that they are of. Units: as figures.h; 0 is "not known".
#ifndef WARPSMITH_CLI_REPORT_BATCH_FIGURES_H_
#define WARPSMITH_CLI_REPORT_BATCH_FIGURES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/report/figures.h"
#include "warpsmith/v1/report.pb.h"

namespace warpsmith::cli::report {

struct ProblemFigures {
  const v1::BatchProblem* problem = nullptr;
  std::unique_ptr<SearchFigures> search;  // null: not read
  std::string name;                       // "level1/23_Softmax"
  std::string best_idea;
  double ratio_to_compile = 0;
  std::map<int, double> best_by_round;  // best so far, to eager; 0: the round ran and there was no kernel
};

struct BatchFigures {
  explicit BatchFigures(const v1::BatchReport& report);
  BatchFigures(const BatchFigures&) = delete;
  BatchFigures& operator=(const BatchFigures&) = delete;

  const v1::BatchReport& report;
  const v1::Batch& batch;
  std::vector<ProblemFigures> problems;
  // To eager and to torch.compile, one of each problem with a correct kernel, as common/fast_p.h takes them.
  std::vector<double> ratios;
  std::vector<double> compile_ratios;
  int compared = 0;      // of these, those with a ratio to eager
  int with_compile = 0;  // problems of which torch.compile was timed
  int rounds = 0;        // the most that any problem has
  int candidates = 0;
  std::vector<std::string> devices;
};

// A batch in two sentences: solved, fast_p, geometric mean, device.
std::string BatchVerdict(const BatchFigures& figures);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_BATCH_FIGURES_H_
