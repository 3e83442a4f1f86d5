// A fake coordinator: answers OperatorService from memory. No search is run; what it returns is made up.
// Threading: safe from any thread.
#ifndef WARPSMITH_TESTS_CLI_FAKE_OPERATOR_SERVICE_H_
#define WARPSMITH_TESTS_CLI_FAKE_OPERATOR_SERVICE_H_

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "warpsmith/v1/operator.grpc.pb.h"

namespace warpsmith::cli {

// A finished search of three rounds, on the emulated device.
v1::Search FakeSearch();
v1::Candidate FakeCandidate();
v1::Tree FakeTree();
v1::Explanation FakeExplanation();
v1::ClusterStatus FakeStatus();

class FakeOperatorService final : public v1::OperatorService::Service {
 public:
  enum class Ending { kKernel, kNoKernel, kFailed, kNever };

  explicit FakeOperatorService(Ending ending = Ending::kKernel) : ending_(ending) {}

  // What came last.
  v1::SubmitSearchRequest submitted() const;
  v1::InjectIdeaRequest idea() const;
  v1::InjectKernelRequest kernel() const;
  std::string cancelled() const;
  void BreakStreams(int times) { breaks_ = times; }

  grpc::Status SubmitSearch(grpc::ServerContext*, const v1::SubmitSearchRequest*, v1::SubmitSearchReply*) override;
  grpc::Status ListSearches(grpc::ServerContext*, const v1::ListSearchesRequest*, v1::ListSearchesReply*) override;
  grpc::Status GetSearch(grpc::ServerContext*, const v1::GetSearchRequest*, v1::Search*) override;
  grpc::Status WatchSearch(grpc::ServerContext*, const v1::GetSearchRequest*,
                           grpc::ServerWriter<v1::SearchEvent>*) override;
  grpc::Status GetTree(grpc::ServerContext*, const v1::GetSearchRequest*, v1::Tree*) override;
  grpc::Status GetCandidate(grpc::ServerContext*, const v1::GetCandidateRequest*, v1::Candidate*) override;
  grpc::Status CancelSearch(grpc::ServerContext*, const v1::GetSearchRequest*, v1::Search*) override;
  grpc::Status InjectIdea(grpc::ServerContext*, const v1::InjectIdeaRequest*, v1::InjectReply*) override;
  grpc::Status InjectKernel(grpc::ServerContext*, const v1::InjectKernelRequest*, v1::InjectReply*) override;
  grpc::Status ListKernels(grpc::ServerContext*, const v1::ListKernelsRequest*, v1::ListKernelsReply*) override;
  grpc::Status Explain(grpc::ServerContext*, const v1::GetSearchRequest*, v1::Explanation*) override;
  grpc::Status GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*, v1::ClusterStatus*) override;

 private:
  v1::Search Ended() const;

  const Ending ending_;
  std::atomic<int> breaks_{0};
  mutable std::mutex mutex_;
  v1::SubmitSearchRequest submitted_;
  v1::InjectIdeaRequest idea_;
  v1::InjectKernelRequest kernel_;
  std::string cancelled_;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_TESTS_CLI_FAKE_OPERATOR_SERVICE_H_
