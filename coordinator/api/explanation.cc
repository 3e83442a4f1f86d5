#include "coordinator/api/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/protocol_names.h"
#include "coordinator/api/explanation_placement.h"
#include "coordinator/api/search_view.h"
#include "coordinator/store/text.h"

namespace warpsmith::api {
namespace {

constexpr double kNoisy = 0.05;  // median spread above which small gains cannot be told from noise
constexpr double kSmallGain = 1.02;
constexpr double kLongWaitSeconds = 30;
constexpr size_t kWorkersNamed = 8;

std::string Remedy(const std::string& outcome) {
  if (outcome == "compile_error") return "more repairs (--repairs) or a stronger model help most";
  if (outcome == "plan_error") return "the models misread the launch plan; `warpsmith show` gives the field at fault";
  if (outcome == "needs_gpu") return "these kernels use what only a GPU can run; start a worker on a GPU";
  if (outcome == "timeout") return "kernels hang or are far too slow";
  if (outcome == "wrong_output") return "check whether the accepted precision class suits the ideas (--accept)";
  return "`warpsmith show` on the example gives the whole verdict";
}

// Which workers hold what of it; empty: none does.
absl::StatusOr<std::string> HeldNow(store::Transaction& transaction, const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("worker_held", {search_id}));
  std::map<std::string, std::pair<int, double>> by_worker;  // how many, and the longest
  for (const store::Row row : rows) {
    auto& [count, longest] = by_worker[row.Text("owner_worker")];
    ++count;
    longest = std::max(longest, row.Double("seconds"));
  }
  std::vector<std::string> parts;
  for (const auto& [worker, of] : by_worker) {
    if (parts.size() == kWorkersNamed) {
      parts.push_back(fmt::format("{} other workers", by_worker.size() - kWorkersNamed));
      break;
    }
    parts.push_back(fmt::format("{} at {} (for {:.0f} s)", of.first, worker, of.second));
  }
  if (parts.empty()) return std::string();
  return fmt::format("Tasks under way: {}.", fmt::join(parts, ", "));
}

void AddFindings(const store::Row& funnel, const std::vector<std::string>& placement, v1::Explanation* explanation) {
  const auto say = [&](std::string sentence) { explanation->add_findings(std::move(sentence)); };
  const v1::Search& search = explanation->search();
  if (search.state() == v1::SEARCH_STATE_FAILED) say("The search failed: " + search.error());
  for (const std::string& obstacle : placement) say(obstacle);
  if (placement.empty() && explanation->oldest_waiting_seconds() > kLongWaitSeconds) {
    say(fmt::format(
        "{} tasks wait, the oldest for {:.0f} s: `warpsmith status` shows whether workers and the gateway are "
        "there.",
        explanation->tasks_waiting(), explanation->oldest_waiting_seconds()));
  }
  if (search.state() == v1::SEARCH_STATE_INTAKE) {
    if (placement.empty()) say("Intake has not ended: no worker has taken the problem in, or it is being timed.");
    return;
  }
  if (search.problem().signature().degenerate()) {
    say("A trivial answer passes every check of this problem, so its kernels prove nothing: " +
        search.problem().signature().degenerate_reason());
  }
  if (explanation->generated() == 0 && explanation->rejected() > 0) {
    say("No reply held a kernel file; the models or the prompt do not fit.");
  } else if (explanation->generated() == 0) {
    say("No kernel has come in yet.");
  }
  const int64_t evaluated = funnel.Int("evaluated");
  if (evaluated > 0 && explanation->correct() == 0) {
    say(fmt::format("None of {} evaluated kernels was correct.", evaluated));
  }
  if (!explanation->failures().empty()) {
    const v1::FailureClass& top = explanation->failures(0);
    if (evaluated > 0 && 2 * top.count() >= evaluated) {
      say(fmt::format("{} of {} kernels ended as {}{}: {}.", top.count(), evaluated, top.outcome(),
                      top.reason().empty() ? "" : " (" + top.reason() + ")", Remedy(top.outcome())));
    }
  }
  if (explanation->rejected() > 0 && explanation->rejected() >= explanation->generated()) {
    say(fmt::format("{} replies held no usable file, against {} that did.", explanation->rejected(),
                    explanation->generated()));
  }
  if (explanation->noise() > kNoisy) {
    say(fmt::format("Timings spread by {:.1f} %: gains smaller than that cannot be seen. {}",
                    explanation->noise() * 100,
                    search.emulated() ? "The emulated device's times only order kernels roughly."
                                      : "Check for other work on the GPU and for throttling."));
  }
  if (explanation->correct() > 1 && explanation->last_gain() > 0 && explanation->last_gain() < kSmallGain) {
    say(fmt::format("The last round gained {:.1f} %: the search has flattened out.",
                    (explanation->last_gain() - 1) * 100));
  }
  if (const int64_t same = funnel.Int("duplicates"); same > 0 && same * 4 >= explanation->generated()) {
    say(fmt::format("{} of {} kernels repeat an earlier one: the models run out of variants.", same,
                    explanation->generated()));
  }
  if (const int64_t lost = funnel.Int("given_up"); lost > 0) {
    say(fmt::format("{} kernels could not be judged because workers failed or died; see their verdicts.", lost));
  }
}

}  // namespace

absl::StatusOr<v1::Explanation> Explain(store::Transaction& transaction, const std::string& search_id,
                                        const engine::EngineSettings& settings, const std::string& day) {
  v1::Explanation explanation;
  WARPSMITH_ASSIGN_OR_RETURN(*explanation.mutable_search(), ViewSearch(transaction, search_id, false));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet funnels, transaction.Execute("search_funnel", {search_id}));
  const store::Row funnel = funnels[0];
  explanation.set_ideas(static_cast<int>(funnel.Int("ideas")));
  explanation.set_generated(static_cast<int>(funnel.Int("generated")));
  explanation.set_rejected(static_cast<int>(funnel.Int("rejected")));
  explanation.set_compiled(static_cast<int>(funnel.Int("compiled")));
  explanation.set_correct(static_cast<int>(funnel.Int("correct")));
  explanation.set_noise(funnel.Double("noise"));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet faster, transaction.Execute("faster_than_parent", {search_id}));
  explanation.set_faster_than_parent(static_cast<int>(faster[0].Int("count")));

  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet failures, transaction.Execute("failure_classes", {search_id}));
  for (const store::Row row : failures) {
    v1::FailureClass* failure = explanation.add_failures();
    failure->set_outcome(OutcomeName(static_cast<v1::Outcome>(row.Int("outcome"))));
    failure->set_reason(row.Text("reason"));
    failure->set_count(static_cast<int>(row.Int("count")));
    failure->set_example(store::CleanText(row.Text("example"), 400));
    failure->set_candidate_id(row.Text("candidate_id"));
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rejects, transaction.Execute("reject_classes", {search_id}));
  for (const store::Row row : rejects) {
    v1::FailureClass* failure = explanation.add_failures();
    failure->set_outcome("rejected");
    failure->set_reason(row.Text("reject_reason"));
    failure->set_count(static_cast<int>(row.Int("count")));
    failure->set_example(store::CleanText(row.Text("example"), 400));
    failure->set_candidate_id(row.Text("candidate_id"));
  }
  std::stable_sort(explanation.mutable_failures()->begin(), explanation.mutable_failures()->end(),
                   [](const v1::FailureClass& a, const v1::FailureClass& b) { return a.count() > b.count(); });

  const auto& rounds = explanation.search().rounds();
  for (int i = rounds.size() - 1; i > 0; --i) {
    if (rounds[i].round_best_ms() <= 0 || rounds[i - 1].best_ms() <= 0) continue;
    explanation.set_last_gain(rounds[i - 1].best_ms() / rounds[i].best_ms());
    break;
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet counts, transaction.Execute("task_counts", {search_id}));
  explanation.set_tasks_waiting(static_cast<int>(counts[0].Int("waiting")));
  explanation.set_oldest_waiting_seconds(counts[0].Double("oldest"));

  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord record, store::GetSearch(transaction, search_id));
  std::vector<std::string> placement;
  if (record.state == v1::SEARCH_STATE_INTAKE || record.state == v1::SEARCH_STATE_RUNNING) {
    WARPSMITH_ASSIGN_OR_RETURN(const PlacementView view, ReadPlacement(transaction, record, settings, day));
    placement = PlacementFindings(view);
  }
  AddFindings(funnel, placement, &explanation);
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet waiting, transaction.Execute("task_last_error", {search_id}));
  for (const store::Row row : waiting) {
    explanation.add_findings(
        fmt::format("A task of kind {} is being tried again: {}", row.Text("kind"), row.Text("last_error")));
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet quarantined, transaction.Execute("task_quarantined", {search_id}));
  for (const store::Row row : quarantined) {
    explanation.add_findings(
        fmt::format("A task of kind {} was given up: {}", row.Text("kind"), row.Text("last_error")));
  }
  if (explanation.findings().empty()) explanation.add_findings("Nothing stands in this search's way.");
  WARPSMITH_ASSIGN_OR_RETURN(const std::string held, HeldNow(transaction, search_id));
  if (!held.empty()) explanation.add_findings(held);
  return explanation;
}

}  // namespace warpsmith::api
