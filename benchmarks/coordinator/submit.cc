#include "benchmarks/coordinator/submit.h"

#include <fmt/format.h>

#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "warpsmith/v1/operator.grpc.pb.h"

namespace warpsmith::bench {

absl::Status SubmitSearches(const std::string& address, int searches, const std::string& submitter) {
  const auto stub = v1::OperatorService::NewStub(ConnectTo(address));
  for (int i = 0; i < searches; ++i) {
    v1::SubmitSearchRequest request;
    request.set_name(fmt::format("replayed {}", i));
    request.set_source(fmt::format("class Model:\n    number = {}\n    of = '{}'\n", i, submitter));
    request.set_submitted_by(submitter);
    // Nine candidates in the first round, from the module alone, and 27 in each later one.
    request.mutable_settings()->set_rounds(6);
    request.mutable_settings()->set_preset("standard");
    request.mutable_settings()->set_repairs(-1);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    v1::SubmitSearchReply reply;
    const grpc::Status status = stub->SubmitSearch(&context, request, &reply);
    if (!status.ok()) return Annotate(FromGrpc(status), "submit");
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::bench
