#include "cli/export_client.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "cli/bank_client.h"
#include "cli/interrupt.h"
#include "cli/operator_client.h"
#include "cli/service_call.h"
#include "common/grpc_channel.h"
#include "warpsmith/v1/export.grpc.pb.h"

namespace warpsmith::cli {
namespace {

constexpr std::chrono::hours kExportDeadline{12};
constexpr std::chrono::seconds kImportDeadline{60};

template <typename Message>
absl::Status ReadAll(const std::string& address, OpenStream<Message> open,
                     std::function<absl::Status(const Message&)> take) {
  return ReadStream<Message>(
      {kExportDeadline, std::move(open), std::move(take),
       [] { return Interrupted() ? Cancelled("interrupted; nothing was written") : absl::OkStatus(); },
       [&](const absl::Status& error) { return ExplainCoordinator(address, error); }});
}

}  // namespace

struct ExportClient::Stub {
  std::unique_ptr<v1::ExportService::Stub> exports;
  std::unique_ptr<v1::ImportService::Stub> imports;
};

ExportClient::ExportClient(std::string address) : address_(std::move(address)), stub_(std::make_unique<Stub>()) {
  const auto channel = ConnectTo(address_);
  stub_->exports = v1::ExportService::NewStub(channel);
  stub_->imports = v1::ImportService::NewStub(channel);
}

ExportClient::~ExportClient() = default;

absl::Status ExportClient::Problems(const v1::ExportSelection& selection,
                                    const std::function<absl::Status(const v1::ExportedProblem&)>& take) {
  return ReadAll<v1::ExportedProblem>(
      address_, [&](grpc::ClientContext* context) { return stub_->exports->ListProblems(context, selection); }, take);
}

absl::Status ExportClient::Candidates(const v1::ExportSelection& selection,
                                      const std::function<absl::Status(const v1::ExportRow&)>& take) {
  return ReadAll<v1::ExportRow>(
      address_, [&](grpc::ClientContext* context) { return stub_->exports->ListCandidates(context, selection); }, take);
}

absl::StatusOr<std::string> ExportClient::Best(const v1::ExportSelection& selection) {
  std::string archive;
  WARPSMITH_RETURN_IF_ERROR(ReadAll<v1::ArchiveChunk>(
      address_, [&](grpc::ClientContext* context) { return stub_->exports->ExportBest(context, selection); },
      [&](const v1::ArchiveChunk& chunk) -> absl::Status {
        archive += chunk.data();
        if (archive.size() <= kMaxArchiveFile) return absl::OkStatus();
        return ResourceExhausted(fmt::format("the archive would be larger than {} MiB; export fewer problems at once",
                                             kMaxArchiveFile >> 20));
      }));
  return archive;
}

absl::StatusOr<v1::ImportKernelsReply> ExportClient::ImportKernel(const v1::ImportKernelRequest& request) {
  auto reply = CallService<v1::ImportKernelsReply>(kImportDeadline, *stub_->imports,
                                                   &v1::ImportService::Stub::ImportKernel, request);
  if (!reply.ok()) return ExplainCoordinator(address_, reply.status());
  return reply;
}

}  // namespace warpsmith::cli
