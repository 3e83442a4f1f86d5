#include "coordinator/metrics/committed_counts.h"

#include <algorithm>

#include "common/protocol_names.h"

namespace warpsmith::metrics {
namespace {

bool OfDevice(const std::string& kind) { return kind == "intake" || kind == "evaluate"; }

std::string OutcomeOf(const store::Row& row) { return OutcomeName(static_cast<v1::Outcome>(row.Int("outcome"))); }

void AddClaims(const store::ResultSet& rows, CommittedCounts& counts) {
  for (const store::Row row : rows) {
    const std::string kind = row.Text("kind");
    ++counts.claims[kind];
    if (!row.Null("waited")) counts.waits.emplace_back(kind, row.Double("waited"));
  }
}

// Verdicts and intakes are counted with what they say, by whoever records them.
void AddCompletions(const store::ResultSet& rows, CommittedCounts& counts) {
  for (const store::Row row : rows) {
    const std::string kind = row.Text("kind");
    if (OfDevice(kind)) continue;
    ++counts.results[{kind, row.Text("result") == "budget" ? "budget" : "ok"}];
  }
}

void AddFailures(const store::ResultSet& rows, CommittedCounts& counts) {
  for (const store::Row row : rows) {
    const std::string kind = row.Text("kind");
    ++counts.results[{kind, OfDevice(kind) ? "infra_error" : "failed"}];
  }
}

void AddRescues(const store::ResultSet& rows, CommittedCounts& counts) {
  for (const store::Row row : rows) ++counts.rescues[row.Bool("died") ? "lease" : "deadline"];
}

// An earlier boot of the coordinator itself is no worker that was lost.
void AddRestarts(const store::ResultSet& rows, CommittedCounts& counts) {
  for (const store::Row row : rows) {
    if (OfDevice(row.Text("kind"))) ++counts.rescues["restart"];
  }
}

void AddInserted(const store::ResultSet& rows, CommittedCounts& counts) {
  for (const store::Row row : rows) {
    if (row.Text("state") == "rejected" && row.Text("reject_reason") != "exhausted") ++counts.candidates["rejected"];
  }
}

void AddCopies(const store::ResultSet& rows, CommittedCounts& counts) {
  for (const store::Row row : rows) {
    if (row.Bool("first_verdict")) ++counts.candidates[OutcomeOf(row)];
  }
}

void AddReused(const store::ResultSet& rows, CommittedCounts& counts) {
  for (const store::Row row : rows) ++counts.candidates[OutcomeOf(row)];
}

void AddGivenUp(const store::ResultSet& rows, CommittedCounts& counts) {
  if (!rows.empty()) counts.candidates[OutcomeName(v1::OUTCOME_INFRA_ERROR)] += static_cast<int>(rows.size());
}

void AddBests(const store::ResultSet& rows, CommittedCounts& counts) {
  for (const store::Row row : rows) {
    if (row.Bool("improved")) counts.improvements.push_back({row.Double("best_ratio"), row.Bool("emulated")});
  }
}

struct Reader {
  void (*add)(const store::ResultSet&, CommittedCounts&);
  std::vector<std::string> columns;
};

const std::map<std::string, Reader, std::less<>>& Readers() {
  static const std::map<std::string, Reader, std::less<>> readers = {
      {"task_claim", {AddClaims, {"kind", "waited"}}},
      {"task_claim_work", {AddClaims, {"kind", "waited"}}},
      {"task_claim_chosen", {AddClaims, {"kind", "waited"}}},
      {"task_complete", {AddCompletions, {"kind", "result"}}},
      {"task_fail", {AddFailures, {"kind"}}},
      {"task_rescue", {AddRescues, {"died"}}},
      {"task_free_boot", {AddRestarts, {"kind"}}},
      {"candidate_insert", {AddInserted, {"state", "reject_reason"}}},
      {"candidates_copy_results", {AddCopies, {"outcome", "first_verdict"}}},
      {"candidate_reuse_result", {AddReused, {"outcome"}}},
      {"candidate_set_given_up", {AddGivenUp, {"id"}}},
      {"searches_refresh_best", {AddBests, {"improved", "best_ratio", "emulated"}}},
  };
  return readers;
}

}  // namespace

void CommittedCounts::Add(std::string_view statement, const store::ResultSet& rows) {
  if (rows.empty()) return;
  const auto found = Readers().find(statement);
  if (found == Readers().end()) return;
  // A statement that has lost a column is a mistake of ours that a test finds; it is no reason to stop.
  const auto there = [&](const std::string& column) {
    return std::find(rows.columns.begin(), rows.columns.end(), column) != rows.columns.end();
  };
  if (std::all_of(found->second.columns.begin(), found->second.columns.end(), there)) found->second.add(rows, *this);
}

const std::map<std::string, std::vector<std::string>, std::less<>>& CountedStatements() {
  static const std::map<std::string, std::vector<std::string>, std::less<>> statements = [] {
    std::map<std::string, std::vector<std::string>, std::less<>> columns;
    for (const auto& [name, reader] : Readers()) columns[name] = reader.columns;
    return columns;
  }();
  return statements;
}

}  // namespace warpsmith::metrics
