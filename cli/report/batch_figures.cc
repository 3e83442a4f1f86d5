#include "cli/report/batch_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/names.h"
#include "cli/report/fast_p_plot.h"
#include "cli/text.h"

namespace warpsmith::cli::report {
namespace {

std::string BestIdea(const SearchFigures& search) {
  const auto found = search.idea_of.find(search.search.best_candidate_id());
  if (found != search.idea_of.end()) return Line(found->second->idea().title());
  return search.best != nullptr ? Line(search.best->idea().title()) : "";
}

}  // namespace

BatchFigures::BatchFigures(const v1::BatchReport& of) : report(of), batch(of.batch()) {
  std::map<std::string, const v1::SearchReport*> searches;
  for (const v1::SearchReport& search : report.searches()) searches[search.search().id()] = &search;
  for (const v1::BatchProblem& problem : batch.problems()) {
    ProblemFigures& figures = problems.emplace_back();
    figures.problem = &problem;
    figures.name =
        problem.level() > 0 ? fmt::format("level{}/{}", problem.level(), Line(problem.name())) : Line(problem.name());
    if (problem.best_ms() > 0) {
      ratios.push_back(problem.ratio_to_eager());
      compile_ratios.push_back(0);
      compared += problem.ratio_to_eager() > 0;
    }
    const auto found = searches.find(problem.search_id());
    if (found == searches.end()) continue;
    figures.search = std::make_unique<SearchFigures>(*found->second);
    const SearchFigures& search = *figures.search;
    figures.best_idea = BestIdea(search);
    candidates += search.candidates;
    for (const v1::RoundSummary& round : search.search.rounds()) {
      figures.best_by_round[round.round()] = round.best_ratio_to_eager();
      rounds = std::max(rounds, round.round());
    }
    if (const BaselineFigures* compile = search.Find("compile_default");
        compile != nullptr && compile->baseline->median_ms() > 0) {
      ++with_compile;
      figures.ratio_to_compile = compile->ratio;
      if (problem.best_ms() > 0) compile_ratios.back() = compile->ratio;
    }
    const std::string device = Line(search.device);
    if (!device.empty() && std::find(devices.begin(), devices.end(), device) == devices.end())
      devices.push_back(device);
  }
}

std::string BatchVerdict(const BatchFigures& figures) {
  const v1::BatchTotals& totals = figures.batch.totals();
  if (totals.problems() == 0) return "The batch has no problems.";
  const auto above = [&](double p) {
    return std::count_if(figures.ratios.begin(), figures.ratios.end(), [p](double ratio) { return ratio > p; });
  };
  std::string out = fmt::format("{} of {} {} {} a correct kernel", totals.solved(), totals.problems(),
                                totals.problems() == 1 ? "problem" : "problems", totals.solved() == 1 ? "has" : "have");
  if (totals.solved() > 0) {
    out += fmt::format(
        "; {} beat PyTorch eager (fast_1 {:.3f}), {} by more than 1.5× (fast_1.5 {:.3f}), {} by more than 2× "
        "(fast_2 {:.3f})",
        above(1), totals.fast_1(), above(1.5), totals.fast_1_5(), above(2), totals.fast_2());
  }
  out += ".";
  if (totals.geometric_mean_ratio() > 0) {
    out += fmt::format(" Geometric mean over the {} that have a kernel: {}.", figures.compared,
                       RatioText(totals.geometric_mean_ratio()));
  }
  if (totals.emulated()) {
    out += " Timed on the emulated device: such times rank kernels on a CPU and say nothing of a GPU.";
  } else if (!figures.devices.empty()) {
    out += " On " + figures.devices[0];
    if (figures.devices.size() > 1) out += fmt::format(" and {} other devices", figures.devices.size() - 1);
    out += ".";
  }
  return out;
}

}  // namespace warpsmith::cli::report
