// Blobs as they come over the wire: what does not have the hash that was asked for is refused.
#include <catch2/catch.hpp>

#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/hash.h"
#include "gpu_worker/session/coordinator_stream.h"
#include "warpsmith/v1/worker.grpc.pb.h"

namespace warpsmith::session {
namespace {

class OneBlobService final : public v1::WorkerService::Service {
 public:
  grpc::Status GetBlob(grpc::ServerContext*, const v1::BlobRequest*,
                       grpc::ServerWriter<v1::BlobChunk>* writer) override {
    if (data.empty()) return {grpc::StatusCode::NOT_FOUND, "there is no such blob"};
    for (size_t at = 0; at < data.size(); at += 5) {
      v1::BlobChunk chunk;
      chunk.set_data(data.substr(at, 5));
      writer->Write(chunk);
    }
    return grpc::Status::OK;
  }
  std::string data;
};

TEST_CASE("a blob is taken only with the contents that its hash says", "[unit]") {
  auto folder = TemporaryDirectory::Create("connector-test-").value();
  const std::string address = "unix:" + (folder.path() / "c.sock").string();
  OneBlobService service;
  auto server = StartServer(address, {&service});
  REQUIRE(server.ok());
  auto connector = MakeGrpcConnector(address);
  const std::string right = "a source in several chunks";
  service.data = right;
  CHECK(connector->GetBlob(Sha256Hex(right)).value() == right);
  service.data = right + "!";
  const absl::Status other = connector->GetBlob(Sha256Hex(right)).status();
  CHECK(absl::IsInternal(other));
  CHECK_THAT(Message(other), Catch::Contains("other contents"));
  service.data.clear();
  CHECK(absl::IsNotFound(connector->GetBlob(Sha256Hex(right)).status()));
  StopServer(*server->server, 0);
}

}  // namespace
}  // namespace warpsmith::session
