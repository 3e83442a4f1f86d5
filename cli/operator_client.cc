#include "cli/operator_client.h"

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/names.h"
#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "warpsmith/v1/operator.grpc.pb.h"

namespace warpsmith::cli {

struct OperatorClient::Stub {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::OperatorService::Stub> service;
};

// A WatchSearch call read by a thread of its own, so that its owner can look at other things meanwhile.
class OperatorClient::Stream {
 public:
  Stream(v1::OperatorService::Stub& service, const v1::GetSearchRequest& request) {
    reader_ = service.WatchSearch(&context_, request);
    thread_ = std::thread([this] { Read(); });
  }
  ~Stream() {
    context_.TryCancel();
    thread_.join();
  }

  // An event, if one comes in time.
  std::optional<v1::SearchEvent> Next(Duration limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [&] { return !events_.empty() || end_.has_value(); });
    if (events_.empty()) return std::nullopt;
    v1::SearchEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  // Set once all events have been taken and the call is over.
  std::optional<absl::Status> end() {
    std::lock_guard lock(mutex_);
    return events_.empty() ? end_ : std::nullopt;
  }

 private:
  void Read() {
    v1::SearchEvent event;
    while (reader_->Read(&event)) {
      std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
      changed_.notify_one();
    }
    const absl::Status status = FromGrpc(reader_->Finish());
    std::lock_guard lock(mutex_);
    end_ = status;
    changed_.notify_one();
  }

  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::SearchEvent>> reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::SearchEvent> events_;
  std::optional<absl::Status> end_;
  std::thread thread_;
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
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::milliseconds>(deadline_));
  Reply reply;
  const absl::Status status = FromGrpc((stub_->service.get()->*method)(&context, request, &reply));
  if (!status.ok()) return Explained(status);
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
  constexpr Duration kTick = std::chrono::milliseconds(100);
  constexpr Duration kPause = std::chrono::milliseconds(500);
  v1::GetSearchRequest request;
  request.set_search_id(search_id);
  v1::Search last;
  TimePoint give_up = RealClock().Now() + patience;
  for (;;) {
    Stream stream(*stub_->service, request);
    std::optional<absl::Status> end;
    while (!(end = stream.end())) {
      WARPSMITH_RETURN_IF_ERROR(poll());
      std::optional<v1::SearchEvent> event = stream.Next(kTick);
      if (!event) continue;
      give_up = RealClock().Now() + patience;
      last = event->search();
      on_event(*event);
    }
    if (end->ok() && Ended(last.state())) return last;
    // A coordinator that restarts ends its streams; the search goes on with the next one.
    const bool broken = end->ok() || end->code() == absl::StatusCode::kUnavailable;
    if (!broken || RealClock().Now() >= give_up) return Explained(end->ok() ? Unavailable("the stream ended") : *end);
    const TimePoint again = RealClock().Now() + kPause;
    while (RealClock().Now() < again) {
      WARPSMITH_RETURN_IF_ERROR(poll());
      RealClock().SleepFor(kTick);
    }
  }
}

}  // namespace warpsmith::cli
