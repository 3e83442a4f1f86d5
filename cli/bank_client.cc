#include "cli/bank_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/operator_client.h"
#include "cli/service_call.h"
#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "warpsmith/v1/bank.grpc.pb.h"

namespace warpsmith::cli {
namespace {

constexpr std::chrono::seconds kBankDeadline{30};
constexpr std::chrono::minutes kArchiveDeadline{30};
constexpr size_t kArchivePiece = 512u << 10;
constexpr size_t kSearchesAsked = 100;  // of at most 100 kernels each
constexpr int kVerificationsAsked = 10000;

}  // namespace

struct BankClient::Stub {
  std::unique_ptr<v1::BankService::Stub> service;
};

BankClient::BankClient(std::string address) : address_(std::move(address)), stub_(std::make_unique<Stub>()) {
  stub_->service = v1::BankService::NewStub(ConnectTo(address_));
}

BankClient::~BankClient() = default;

template <typename Reply, typename Request, typename Method>
absl::StatusOr<Reply> BankClient::Call(Method method, const Request& request) {
  absl::StatusOr<Reply> reply = CallService<Reply>(kBankDeadline, *stub_->service, method, request);
  if (!reply.ok()) return ExplainCoordinator(address_, reply.status());
  return reply;
}

absl::StatusOr<v1::KernelDetail> BankClient::GetKernel(const std::string& kernel_id) {
  v1::GetKernelRequest request;
  request.set_kernel_id(kernel_id);
  return Call<v1::KernelDetail>(&v1::BankService::Stub::GetKernel, request);
}

absl::StatusOr<v1::ListPendingReply> BankClient::ListPending(int limit) {
  v1::ListPendingRequest request;
  request.set_limit(limit);
  return Call<v1::ListPendingReply>(&v1::BankService::Stub::ListPending, request);
}

absl::StatusOr<v1::VerifyKernelsReply> BankClient::VerifyKernels(const v1::VerifyKernelsRequest& request) {
  return Call<v1::VerifyKernelsReply>(&v1::BankService::Stub::VerifyKernels, request);
}

absl::StatusOr<v1::ListVerificationsReply> BankClient::ListVerifications(const std::vector<std::string>& search_ids) {
  v1::ListVerificationsReply all;
  for (size_t begin = 0; begin < search_ids.size(); begin += kSearchesAsked) {
    v1::ListVerificationsRequest request;
    request.set_limit(kVerificationsAsked);
    for (size_t i = begin; i < std::min(search_ids.size(), begin + kSearchesAsked); ++i) {
      request.add_search_ids(search_ids[i]);
    }
    WARPSMITH_ASSIGN_OR_RETURN(const v1::ListVerificationsReply part,
                               Call<v1::ListVerificationsReply>(&v1::BankService::Stub::ListVerifications, request));
    all.MergeFrom(part);
  }
  return all;
}

absl::StatusOr<std::string> BankClient::Export(const v1::KernelFilter& filter) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kArchiveDeadline);
  v1::ExportKernelsRequest request;
  *request.mutable_filter() = filter;
  const auto reader = stub_->service->ExportKernels(&context, request);
  std::string archive;
  v1::ArchiveChunk chunk;
  bool too_large = false;
  while (reader->Read(&chunk)) {
    too_large = too_large || archive.size() + chunk.data().size() > kMaxArchiveFile;
    if (too_large) {
      context.TryCancel();
      continue;
    }
    archive += chunk.data();
  }
  const absl::Status status = FromGrpc(reader->Finish());
  if (too_large) {
    return ResourceExhausted(
        fmt::format("the archive would be larger than {} MiB, the most that an import takes; export it in parts, by "
                    "--family or --problem",
                    kMaxArchiveFile >> 20));
  }
  if (!status.ok()) return ExplainCoordinator(address_, status);
  return archive;
}

absl::StatusOr<v1::ImportKernelsReply> BankClient::Import(const std::string& archive, const std::string& device_class,
                                                          const std::string& submitted_by) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kArchiveDeadline);
  v1::ImportKernelsReply reply;
  const auto writer = stub_->service->ImportKernels(&context, &reply);
  v1::ImportChunk chunk;
  chunk.set_device_class(device_class);
  chunk.set_submitted_by(submitted_by);
  for (size_t at = 0; at < archive.size(); at += kArchivePiece) {
    chunk.set_data(archive.substr(at, kArchivePiece));
    if (!writer->Write(chunk)) break;  // refused: Finish says why
  }
  writer->WritesDone();
  const absl::Status status = FromGrpc(writer->Finish());
  if (!status.ok()) return ExplainCoordinator(address_, status);
  return reply;
}

}  // namespace warpsmith::cli
