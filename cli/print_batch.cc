#include "cli/print_batch.h"

#include <fmt/format.h>

#include "cli/names.h"
#include "cli/text.h"

namespace warpsmith::cli {
namespace {

int64_t TokensOf(const v1::Usage& usage) {
  return usage.input_tokens() + usage.output_tokens() + usage.abandoned_tokens();
}

std::string NameOf(const v1::BatchProblem& problem) {
  return problem.level() > 0 ? fmt::format("level{}/{}", problem.level(), problem.name()) : problem.name();
}

std::string StateOf(const v1::BatchProblem& problem) {
  if (Ended(problem.state())) return SearchStateName(problem.state());
  if (problem.paused()) return "paused";
  if (problem.waits_for() == "place") return "waiting";
  if (problem.waits_for() == "round") return "next round";
  return SearchStateName(problem.state());
}

std::string RatioOf(double ratio, bool emulated) {
  if (ratio <= 0) return "-";
  return fmt::format("{:.3f}x{}", ratio, emulated ? " emulated" : "");
}

// In a few words: the rest of the row needs the room.
std::string EndOf(const v1::BatchProblem& problem) {
  if (problem.state() == v1::SEARCH_STATE_FAILED) return "see below";
  if (!Ended(problem.state())) {
    if (problem.waits_for() == "tasks") return fmt::format("{} tasks wait", problem.tasks_waiting());
    return problem.tasks_running() > 0 ? fmt::format("{} running", problem.tasks_running()) : "";
  }
  const std::string& reason = problem.finish_reason();
  if (reason == "rounds") return "all rounds ran";
  if (reason == "no_gain") return "no gain";
  if (reason == "no_kernel") return "no valid kernel";
  if (reason == "budget") return "budget spent";
  if (reason == "ideas_exhausted") return "no more ideas";
  return Line(reason);  // roofline, cancelled
}

std::string FailuresText(const v1::Batch& batch) {
  constexpr int kMostShown = 10;
  std::string out;
  int failed = 0;
  for (const v1::BatchProblem& problem : batch.problems()) {
    if (problem.state() != v1::SEARCH_STATE_FAILED || ++failed > kMostShown) continue;
    out += Wrap("failed: " + NameOf(problem) + ": " + problem.error(), kPageWidth, "  ") + "\n";
  }
  if (failed > kMostShown) out += fmt::format("failed: and {} more; see --json\n", failed - kMostShown);
  return out.empty() ? out : out + "\n";
}

std::string Share(double fraction) { return fmt::format("{:.3f}", fraction); }

std::string LimitsText(const v1::BatchLimits& limits) {
  std::string out = fmt::format("priority {}, {} at once", limits.priority(),
                                limits.parallel() > 0 ? std::to_string(limits.parallel()) : "all problems");
  if (limits.max_usd() > 0) out += fmt::format(", at most ${:.2f}", limits.max_usd());
  if (limits.max_tokens() > 0) out += fmt::format(", at most {} tokens", FormatCount(limits.max_tokens()));
  if (limits.max_gpu_hours() > 0) out += fmt::format(", at most {:.2f} GPU hours", limits.max_gpu_hours());
  return out;
}

std::string TotalsText(const v1::BatchTotals& totals) {
  const char* label = totals.emulated() ? " (emulated)" : "";
  std::string out = fmt::format("{} of {} problems ended, {} solved, {} failed\n", totals.ended(), totals.problems(),
                                totals.solved(), totals.failed());
  out += fmt::format("of all problems{}: fast_0 {}, fast_1 {}, fast_1.5 {}, fast_2 {}\n", label, Share(totals.fast_0()),
                     Share(totals.fast_1()), Share(totals.fast_1_5()), Share(totals.fast_2()));
  if (totals.geometric_mean_ratio() > 0) {
    out +=
        fmt::format("geometric mean over the solved: {:.3f}x PyTorch eager{}\n", totals.geometric_mean_ratio(), label);
  }
  out += fmt::format("cost: ${:.2f}, {} tokens, {:.1f} GPU seconds\n", totals.usage().usd(),
                     FormatCount(TokensOf(totals.usage())), totals.usage().gpu_seconds());
  return out;
}

}  // namespace

std::string BatchText(const v1::Batch& batch) {
  std::string head = fmt::format("{}: batch {}, {}", Line(batch.name()), ShortId(batch.id()), Line(batch.state()));
  if (!batch.owner().empty()) head += ", of " + Line(batch.owner());
  std::string out = Wrap(fmt::format("{}; {}", head, LimitsText(batch.limits())), kPageWidth, "  ") + "\n\n";
  Table table;
  table.AddColumn("problem");
  table.AddColumn("state");
  table.AddColumn("round", Table::kRight);
  table.AddColumn("best ms", Table::kRight);
  table.AddColumn("to eager", Table::kRight);
  table.AddColumn("cost", Table::kRight);
  table.AddColumn("why it ended");
  for (const v1::BatchProblem& problem : batch.problems()) {
    table.AddRow({Fit(NameOf(problem), 30), StateOf(problem), fmt::format("{}/{}", problem.round(), problem.rounds()),
                  FormatMs(problem.best_ms()), RatioOf(problem.ratio_to_eager(), problem.emulated()),
                  fmt::format("${:.2f}", problem.usage().usd()), EndOf(problem)});
  }
  if (!table.empty()) out += table.ToString() + "\n";
  return out + FailuresText(batch) + TotalsText(batch.totals());
}

std::string BatchLine(const v1::Batch& batch) {
  const v1::BatchTotals& totals = batch.totals();
  std::string line = fmt::format("{}: {}/{} ended, {} solved", Line(batch.state()), totals.ended(), totals.problems(),
                                 totals.solved());
  if (totals.geometric_mean_ratio() > 0) {
    line += fmt::format(", fast_1 {}, mean {:.3f}x{}", Share(totals.fast_1()), totals.geometric_mean_ratio(),
                        totals.emulated() ? " (emulated)" : "");
  }
  return line + fmt::format(", ${:.2f}", totals.usage().usd());
}

std::string BatchesText(const v1::ListBatchesReply& reply) {
  Table table;
  table.AddColumn("batch");
  table.AddColumn("state");
  table.AddColumn("submitted (UTC)");
  table.AddColumn("owner");
  table.AddColumn("priority", Table::kRight);
  table.AddColumn("ended", Table::kRight);
  table.AddColumn("solved", Table::kRight);
  table.AddColumn("fast_1", Table::kRight);
  table.AddColumn("cost", Table::kRight);
  table.AddColumn("name");
  for (const v1::Batch& batch : reply.batches()) {
    const v1::BatchTotals& totals = batch.totals();
    table.AddRow({ShortId(batch.id()), batch.state(), FormatInstant(batch.submitted_at_us()), Fit(batch.owner(), 12),
                  std::to_string(batch.limits().priority()), fmt::format("{}/{}", totals.ended(), totals.problems()),
                  std::to_string(totals.solved()), Share(totals.fast_1()) + (totals.emulated() ? " emulated" : ""),
                  fmt::format("${:.2f}", totals.usage().usd()), batch.name()});
  }
  return table.empty() ? "no batches\n" : table.ToString();
}

}  // namespace warpsmith::cli
