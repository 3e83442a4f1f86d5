#include "tests/common/metrics/health_check.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

namespace warpsmith::testing {

// The service's messages are not part of gRPC's packages: the request is empty, the answer one field, an enumeration.
std::string AskHealth(const std::string& address) {
  const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  grpc::CompletionQueue queue;
  const grpc::Slice empty;
  const grpc::ByteBuffer nothing(&empty, 1);
  const auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", nothing, &queue);
  call->StartCall();
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (!status.ok()) return status.error_message().empty() ? "error" : status.error_message();
  grpc::Slice bytes;
  if (!reply.DumpToSingleSlice(&bytes).ok() || bytes.size() != 2 || bytes.begin()[0] != 8) return "another answer";
  return bytes.begin()[1] == 1 ? "SERVING" : bytes.begin()[1] == 2 ? "NOT_SERVING" : "UNKNOWN";
}

}  // namespace warpsmith::testing
