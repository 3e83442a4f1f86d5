// The operator's side of ReportService. gRPC stays inside.
// Threading: one thread at a time. Errors: the coordinator's own; Unavailable says where it was looked for; Cancelled
// where `poll` ended the wait.
#ifndef WARPSMITH_CLI_REPORT_REPORT_CLIENT_H_
#define WARPSMITH_CLI_REPORT_REPORT_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "common/status.h"
#include "warpsmith/v1/report.pb.h"

namespace warpsmith::cli::report {

class ReportClient {
 public:
  explicit ReportClient(std::string address);
  ~ReportClient();

  // `poll` is called ten times a second; an error from it ends the wait with that error.
  absl::StatusOr<v1::SearchReport> Get(const std::string& search_id, bool brief,
                                       const std::function<absl::Status()>& poll);

 private:
  struct Stub;

  const std::string address_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_REPORT_CLIENT_H_
