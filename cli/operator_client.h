// The operator's side of OperatorService. gRPC stays inside.
// Threading: one thread at a time. Errors: the coordinator's own; Unavailable says where it was looked for and what to
// do; Cancelled where the wait was given up.
#ifndef WARPSMITH_CLI_OPERATOR_CLIENT_H_
#define WARPSMITH_CLI_OPERATOR_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "common/clock.h"
#include "common/status.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::cli {

// What a call to the coordinator ended with, where it did not answer with where it was looked for and what to do.
absl::Status ExplainCoordinator(const std::string& address, const absl::Status& status);

class OperatorClient {
 public:
  // Does not connect yet. `deadline` is that of each call but Watch.
  explicit OperatorClient(std::string address, Duration deadline = std::chrono::seconds(30));
  ~OperatorClient();

  const std::string& address() const { return address_; }

  absl::StatusOr<v1::SubmitSearchReply> SubmitSearch(const v1::SubmitSearchRequest& request);
  absl::StatusOr<v1::ListSearchesReply> ListSearches(const v1::ListSearchesRequest& request);
  absl::StatusOr<v1::Search> GetSearch(const std::string& search_id);
  absl::StatusOr<v1::Search> CancelSearch(const std::string& search_id);
  absl::StatusOr<v1::Tree> GetTree(const std::string& search_id);
  absl::StatusOr<v1::Explanation> Explain(const std::string& search_id);
  absl::StatusOr<v1::Candidate> GetCandidate(const std::string& candidate_id);
  absl::StatusOr<v1::InjectReply> InjectIdea(const v1::InjectIdeaRequest& request);
  absl::StatusOr<v1::InjectReply> InjectKernel(const v1::InjectKernelRequest& request);
  absl::StatusOr<v1::ListKernelsReply> ListKernels(const v1::ListKernelsRequest& request);
  absl::StatusOr<v1::ClusterStatus> GetStatus();

  // Every event until the search has ended; the last state. Both callbacks run on the caller's thread. `poll` is called
  // ten times a second; an error from it ends the wait with that error. Where the stream breaks, it is taken up again
  // for up to `patience`.
  absl::StatusOr<v1::Search> Watch(const std::string& search_id,
                                   const std::function<void(const v1::SearchEvent&)>& on_event,
                                   const std::function<absl::Status()>& poll,
                                   Duration patience = std::chrono::seconds(60));

 private:
  struct Stub;
  template <typename Reply, typename Request, typename Method>
  absl::StatusOr<Reply> Call(Method method, const Request& request);
  absl::Status Explained(const absl::Status& status) const;

  std::string address_;
  Duration deadline_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_OPERATOR_CLIENT_H_
