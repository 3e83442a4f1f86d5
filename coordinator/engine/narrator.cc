#include "coordinator/engine/narrator.h"

#include <fmt/format.h>

#include <cmath>

namespace warpsmith::engine {

std::string TimeText(double ms, double ratio_to_eager) {
  if (ratio_to_eager <= 0 || !std::isfinite(ratio_to_eager)) return fmt::format("{:.3g} ms", ms);
  return fmt::format("{:.3g} ms ({:.0f} % of PyTorch)", ms, ratio_to_eager * 100);
}

absl::StatusOr<std::vector<v1::RoundSummary>> SummarizeRounds(store::Transaction& transaction,
                                                              const std::string& search_id) {
  std::vector<v1::RoundSummary> rounds;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet summaries, transaction.Execute("round_summaries", {search_id}));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet bests, transaction.Execute("round_bests", {search_id}));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet titles, transaction.Execute("idea_titles", {search_id}));
  double best_log_ratio = 0, best_ms = 0, best_ratio = 0;
  for (size_t i = 0; i < summaries.size(); ++i) {
    const store::Row row = summaries[i];
    // The round that opens when the last one closes has nothing in it; do not show it.
    if (i > 0 && i + 1 == summaries.size() && row.Int("ideas") == 0 && row.Int("generated") == 0) continue;
    v1::RoundSummary& round = rounds.emplace_back();
    round.set_round(static_cast<int>(row.Int("round")));
    round.set_ideas(static_cast<int>(row.Int("ideas")));
    round.set_generated(static_cast<int>(row.Int("generated")));
    round.set_compiled(static_cast<int>(row.Int("compiled")));
    round.set_correct(static_cast<int>(row.Int("correct")));
    round.set_faster(static_cast<int>(row.Int("faster")));
    round.set_closed_at_us(row.Int("closed_us"));
    for (const store::Row best : bests) {
      if (best.Int("round") != round.round()) continue;
      round.set_round_best_ms(best.Double("median_ms"));
      round.set_best_idea(best.Text("title"));
      if (best_ms == 0 || best.Double("log_ratio") > best_log_ratio) {
        best_log_ratio = best.Double("log_ratio");
        best_ms = best.Double("median_ms");
        best_ratio = best.Double("ratio_to_eager");
      }
    }
    round.set_best_ms(best_ms);
    round.set_best_ratio_to_eager(best_ratio);
    for (const store::Row title : titles) {
      if (title.Int("round") == round.round()) round.add_idea_titles(title.Text("title"));
    }
  }
  return rounds;
}

std::string ProgressLine(const v1::RoundSummary& round) {
  std::string line = fmt::format("round {}: {} of {} compiled, {} correct", round.round(), round.compiled(),
                                 round.generated(), round.correct());
  if (round.best_ms() > 0) line += ", best " + TimeText(round.best_ms(), round.best_ratio_to_eager());
  if (round.round_best_ms() > 0 && !round.best_idea().empty()) line += ", idea " + round.best_idea();
  return line;
}

std::string ClosingLine(const v1::RoundSummary& round) {
  std::string line =
      fmt::format("round {} closed: {} kernels from {} ideas, {} compiled, {} correct, {} faster", round.round(),
                  round.generated(), round.ideas(), round.compiled(), round.correct(), round.faster());
  if (round.best_ms() > 0) return line + "; best so far " + TimeText(round.best_ms(), round.best_ratio_to_eager());
  return line + "; none correct so far";
}

}  // namespace warpsmith::engine
