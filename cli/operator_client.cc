#include "cli/operator_client.h"

#include <fmt/format.h>

#include "cli/names.h"
#include "cli/service_call.h"
#include "common/grpc_channel.h"
#include "warpsmith/v1/operator.grpc.pb.h"

namespace warpsmith::cli {

struct OperatorClient::Stub {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::OperatorService::Stub> service;
};

OperatorClient::OperatorClient(std::string address, Duration deadline)
    : address_(std::move(address)), deadline_(deadline), stub_(std::make_unique<Stub>()) {
  stub_->channel = ConnectTo(address_);
  stub_->service = v1::OperatorService::NewStub(stub_->channel);
}

OperatorClient::~OperatorClient() = default;

absl::Status ExplainCoordinator(const std::string& address, const absl::Status& status) {
  if (status.code() != absl::StatusCode::kUnavailable && status.code() != absl::StatusCode::kDeadlineExceeded) {
    return status;
  }
  const absl::Status explained = ExplainUnavailable(address, status);
  if (Message(explained) != Message(status)) return explained;
  return Unavailable(
      fmt::format("no coordinator answers at {} ({}); start one with `warpsmith up`, or say where it is "
                  "with --coordinator or WARPSMITH_COORDINATOR",
                  address, Message(status)));
}

absl::Status OperatorClient::Explained(const absl::Status& status) const {
  return ExplainCoordinator(address_, status);
}

template <typename Reply, typename Request, typename Method>
absl::StatusOr<Reply> OperatorClient::Call(Method method, const Request& request) {
  absl::StatusOr<Reply> reply = CallService<Reply>(deadline_, *stub_->service, method, request);
  if (!reply.ok()) return Explained(reply.status());
  return reply;
}

absl::StatusOr<v1::SubmitSearchReply> OperatorClient::SubmitSearch(const v1::SubmitSearchRequest& request) {
  return Call<v1::SubmitSearchReply>(&v1::OperatorService::Stub::SubmitSearch, request);
}

absl::StatusOr<v1::ListSearchesReply> OperatorClient::ListSearches(const v1::ListSearchesRequest& request) {
  return Call<v1::ListSearchesReply>(&v1::OperatorService::Stub::ListSearches, request);
}

absl::StatusOr<v1::Search> OperatorClient::GetSearch(const std::string& search_id) {
  v1::GetSearchRequest request;
  request.set_search_id(search_id);
  return Call<v1::Search>(&v1::OperatorService::Stub::GetSearch, request);
}

absl::StatusOr<v1::Search> OperatorClient::CancelSearch(const std::string& search_id) {
  v1::GetSearchRequest request;
  request.set_search_id(search_id);
  return Call<v1::Search>(&v1::OperatorService::Stub::CancelSearch, request);
}

absl::StatusOr<v1::Tree> OperatorClient::GetTree(const std::string& search_id) {
  v1::GetSearchRequest request;
  request.set_search_id(search_id);
  return Call<v1::Tree>(&v1::OperatorService::Stub::GetTree, request);
}

absl::StatusOr<v1::Explanation> OperatorClient::Explain(const std::string& search_id) {
  v1::GetSearchRequest request;
  request.set_search_id(search_id);
  return Call<v1::Explanation>(&v1::OperatorService::Stub::Explain, request);
}

absl::StatusOr<v1::Candidate> OperatorClient::GetCandidate(const std::string& candidate_id) {
  v1::GetCandidateRequest request;
  request.set_candidate_id(candidate_id);
  return Call<v1::Candidate>(&v1::OperatorService::Stub::GetCandidate, request);
}

absl::StatusOr<v1::InjectReply> OperatorClient::InjectIdea(const v1::InjectIdeaRequest& request) {
  return Call<v1::InjectReply>(&v1::OperatorService::Stub::InjectIdea, request);
}

absl::StatusOr<v1::InjectReply> OperatorClient::InjectKernel(const v1::InjectKernelRequest& request) {
  return Call<v1::InjectReply>(&v1::OperatorService::Stub::InjectKernel, request);
}

absl::StatusOr<v1::ListKernelsReply> OperatorClient::ListKernels(const v1::ListKernelsRequest& request) {
  return Call<v1::ListKernelsReply>(&v1::OperatorService::Stub::ListKernels, request);
}

absl::StatusOr<v1::ClusterStatus> OperatorClient::GetStatus() {
  return Call<v1::ClusterStatus>(&v1::OperatorService::Stub::GetStatus, v1::GetStatusRequest());
}

absl::StatusOr<v1::Search> OperatorClient::Watch(const std::string& search_id,
                                                 const std::function<void(const v1::SearchEvent&)>& on_event,
                                                 const std::function<absl::Status()>& poll, Duration patience) {
  v1::GetSearchRequest request;
  request.set_search_id(search_id);
  v1::Search last;
  Following<v1::SearchEvent> following;
  following.open = [&](grpc::ClientContext* context) { return stub_->service->WatchSearch(context, request); };
  following.on_message = [&](const v1::SearchEvent& event) {
    last = event.search();
    on_event(event);
  };
  following.finished = [&] { return Ended(last.state()); };
  following.poll = poll;
  following.patience = patience;
  following.explain = [this](const absl::Status& status) { return Explained(status); };
  WARPSMITH_RETURN_IF_ERROR(FollowStream(following));
  return last;
}

}  // namespace warpsmith::cli
