#include "coordinator/engine/problem_history.h"

#include "common/protocol_names.h"
#include "coordinator/store/text.h"

namespace warpsmith::engine {

void SetFate(double best_ms, double parent_ms, const std::string& failure, const std::string& message,
             v1::TriedIdea* tried) {
  if (best_ms > 0) {
    tried->set_best_ms(best_ms);
    tried->set_outcome("ok");
    if (parent_ms > 0) tried->set_ratio_to_parent(parent_ms / best_ms);
  } else {
    tried->set_outcome(failure.empty() ? "untried" : failure);
  }
  if (!failure.empty()) {
    tried->set_why(failure + ": " + store::CleanLine(message.substr(0, message.find('\n')), 200));
  }
}

absl::Status AddEarlierSearches(store::Transaction& transaction, const store::SearchRecord& search,
                                v1::ProposeIdeasRequest* request, int most) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("history_of_problem", {search.problem_id, search.device_class,
                                                                        search.emulated, search.id, int64_t{most}}));
  for (const store::Row row : rows) {
    v1::Idea idea;
    idea.ParseFromString(row.Blob("body"));
    v1::TriedIdea* tried = request->add_tried();
    tried->set_earlier_search(true);
    // A prompt shows no more of them; a recipe's key would keep the catalog from its own idea.
    tried->mutable_idea()->set_title(idea.title());
    tried->mutable_idea()->set_category(idea.category());
    const std::string failure = !row.Text("reject_reason").empty() ? row.Text("reject_reason")
                                : row.Int("outcome") != 0 ? OutcomeName(static_cast<v1::Outcome>(row.Int("outcome")))
                                                          : "";
    SetFate(row.Double("best_ms"), row.Double("parent_ms"), failure, row.Text("example"), tried);
  }
  if (!rows.empty()) {
    request->set_tried_left_out(static_cast<int>(rows[0].Int("all_ideas") - static_cast<int64_t>(rows.size())));
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::engine
