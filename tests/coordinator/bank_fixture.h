// A cluster with the bank's calls, and searches whose every kernel is confirmed.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_COORDINATOR_BANK_FIXTURE_H_
#define WARPSMITH_TESTS_COORDINATOR_BANK_FIXTURE_H_

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "tests/coordinator/cluster_fixture.h"
#include "warpsmith/v1/bank.grpc.pb.h"

namespace warpsmith::testing {

using WorkerPtr = std::unique_ptr<ScriptedWorker>;

// A real candidate's form: the scripted worker reads its remark, which is no part of the program.
inline std::string BankSource(const std::string& value, const std::string& body, const std::string& remark) {
  return fmt::format(
      "/* warpsmith-plan {{\"version\": 1, \"steps\": [{{\"kernel\": \"k\", \"args\": [\"x\", \"output\"]}}]}} */\n"
      "// {2}\n__global__ void k(const float* x, float* y) {{ float {0} = x[0]; {1} y[0] = {0}; }}\n",
      value, body, remark);
}

class BankCluster : public Cluster {
 public:
  BankCluster() : stub_(v1::BankService::NewStub(ConnectTo(address()))) {}

  WorkerPtr Gpu(const std::string& worker_id, const std::string& harness_rev) {
    auto worker = std::make_unique<ScriptedWorker>(address(), worker_id, "boot1", 4, /*holding=*/false,
                                                   /*emulated=*/false);
    worker->harness_rev = harness_rev;
    return worker;
  }

  // One idea, so many kernels, all of which are confirmed; what they are is write_kernel's.
  v1::Search Run(int kernels, const std::string& problem = "softmax") { return Finished(Begin(kernels, problem)); }
  std::string Begin(int kernels, const std::string& problem = "softmax") {
    auto request = SmallSearch(1);
    request.set_name(problem);
    request.set_source("class Model: " + problem + "\n");
    request.set_submitted_by("alice");
    request.mutable_settings()->set_ideas(1);
    request.mutable_settings()->set_implementations(kernels);
    return Submit(request).value();
  }

  v1::ListKernelsReply Banked(const std::string& device_class = "", const std::string& problem = "") {
    v1::ListKernelsRequest request;
    request.set_device_class(device_class);
    request.set_problem(problem);
    return Kernels(request).value();
  }
  absl::StatusOr<v1::KernelDetail> Show(const std::string& id) {
    v1::GetKernelRequest request;
    request.set_kernel_id(id);
    return Call<v1::KernelDetail>(&v1::BankService::Stub::GetKernel, request);
  }
  v1::ListPendingReply Pending() {
    return Call<v1::ListPendingReply>(&v1::BankService::Stub::ListPending, v1::ListPendingRequest()).value();
  }
  absl::StatusOr<v1::VerifyKernelsReply> Verify(const v1::KernelFilter& filter) {
    v1::VerifyKernelsRequest request;
    *request.mutable_filter() = filter;
    request.set_submitted_by("bob");
    return Call<v1::VerifyKernelsReply>(&v1::BankService::Stub::VerifyKernels, request);
  }
  // Verifies and waits; the verdicts.
  std::vector<v1::Verification> Verified(const v1::KernelFilter& filter) {
    const v1::VerifyKernelsReply queued = Verify(filter).value();
    return Await({queued.search_ids().begin(), queued.search_ids().end()});
  }
  std::vector<v1::Verification> Await(const std::vector<std::string>& search_ids) {
    v1::ListVerificationsRequest request;
    for (const std::string& id : search_ids) request.add_search_ids(id);
    v1::ListVerificationsReply reply;
    REQUIRE(Eventually([&] {
      reply = Call<v1::ListVerificationsReply>(&v1::BankService::Stub::ListVerifications, request).value();
      return std::all_of(reply.verifications().begin(), reply.verifications().end(),
                         [](const v1::Verification& one) { return !one.verdict().empty(); });
    }));
    // The searches end too, so that nothing is under way at the test's end.
    for (const std::string& id : search_ids) CHECK(Finished(id).finished_at_us() > 0);
    return {reply.verifications().begin(), reply.verifications().end()};
  }
  std::string Export(const v1::KernelFilter& filter = {}) {
    grpc::ClientContext context;
    v1::ExportKernelsRequest request;
    *request.mutable_filter() = filter;
    const auto reader = stub_->ExportKernels(&context, request);
    std::string archive;
    v1::ArchiveChunk chunk;
    while (reader->Read(&chunk)) archive += chunk.data();
    REQUIRE(reader->Finish().ok());
    return archive;
  }
  absl::StatusOr<v1::ImportKernelsReply> Import(const std::string& archive, const std::string& device_class = "") {
    grpc::ClientContext context;
    v1::ImportKernelsReply reply;
    const auto writer = stub_->ImportKernels(&context, &reply);
    v1::ImportChunk chunk;
    chunk.set_device_class(device_class);
    for (size_t at = 0; at < archive.size(); at += 1000) {
      chunk.set_data(archive.substr(at, 1000));
      if (!writer->Write(chunk)) break;
    }
    writer->WritesDone();
    const absl::Status status = FromGrpc(writer->Finish());
    if (!status.ok()) return status;
    return reply;
  }

 private:
  template <typename Reply, typename Request, typename Method>
  absl::StatusOr<Reply> Call(Method method, const Request& request) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    Reply reply;
    const absl::Status status = FromGrpc((stub_.get()->*method)(&context, request, &reply));
    if (!status.ok()) return status;
    return reply;
  }

  std::unique_ptr<v1::BankService::Stub> stub_;
};

inline v1::KernelFilter ById(const std::string& id) {
  v1::KernelFilter filter;
  filter.add_kernel_ids(id);
  return filter;
}

// The confirmations that a worker was given, of one search.
inline std::vector<v1::EvaluateTask> Confirmations(const ScriptedWorker& worker, const std::string& problem_name = "") {
  std::vector<v1::EvaluateTask> tasks;
  for (const v1::Assignment& assignment : worker.assignments()) {
    if (assignment.evaluate().stage() != "confirm") continue;
    if (problem_name.empty() || assignment.evaluate().problem_name() == problem_name) {
      tasks.push_back(assignment.evaluate());
    }
  }
  return tasks;
}

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_COORDINATOR_BANK_FIXTURE_H_
