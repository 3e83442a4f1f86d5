// What a batch came to: verdicts, candidates an hour, where the time went.
// Threading: plain values and pure functions. Units: seconds, milliseconds where named so.
#ifndef WARPSMITH_CLI_BATCH_SUMMARY_H_
#define WARPSMITH_CLI_BATCH_SUMMARY_H_

#include <map>
#include <string>
#include <vector>

#include "cli/batch_manifest.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::cli {

struct BatchRow {
  std::string name;
  std::string outcome;  // or "not evaluated"
  std::string detail;   // reason or error
  double median_ms = 0;
  double ratio_to_eager = 0;
  double seconds = 0;
  bool unexpected = false;
};

class BatchSummary {
 public:
  // The row of one verdict, which is counted.
  BatchRow Add(const BatchEntry& entry, const v1::Evaluation& evaluation);
  BatchRow AddError(const BatchEntry& entry, const std::string& error);

  int done() const { return done_; }
  int unexpected() const { return unexpected_; }
  int infra_errors() const { return infra_errors_; }

  // `wall`: from the first kernel's start to the last one's end, intake left out.
  std::string Text(double wall) const;
  std::string ToJson(double wall) const;

 private:
  double BusySeconds() const;

  int done_ = 0;
  int unexpected_ = 0;
  int infra_errors_ = 0;
  std::map<std::string, int> outcomes_;
  v1::StageSeconds seconds_;
};

std::string BatchTable(const std::vector<BatchRow>& rows);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_BATCH_SUMMARY_H_
