// The bank's commands against a fake bank, over real gRPC on a Unix socket.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "cli/exit_code.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/json.h"
#include "tests/cli/printed.h"
#include "warpsmith/v1/bank.grpc.pb.h"

namespace warpsmith::cli {
namespace {

// Answers from memory; what it returns is made up.
class FakeBankService final : public v1::BankService::Service {
 public:
  grpc::Status GetKernel(grpc::ServerContext*, const v1::GetKernelRequest* request, v1::KernelDetail* reply) override {
    if (request->kernel_id() != "c0ffee12") return {grpc::StatusCode::NOT_FOUND, "no kernel has this id"};
    reply->mutable_kernel()->set_id("c0ffee1200000000");
    reply->mutable_kernel()->set_problem_name("layer_norm");
    reply->mutable_kernel()->set_state("trusted");
    reply->mutable_kernel()->set_median_ms(0.25);
    reply->mutable_kernel()->set_ratio_to_reference(4);
    reply->mutable_kernel()->set_ratio_low(3.9);
    reply->mutable_kernel()->set_ratio_high(4.1);
    reply->set_source("__global__ void k() {}  // \033[2J\n");
    v1::KernelProvenance* provenance = reply->add_provenance();
    provenance->set_model("o3");
    provenance->set_effort("high");
    provenance->mutable_device()->set_name("NVIDIA H200");
    provenance->mutable_device()->set_uuid("GPU-1234");
    provenance->mutable_device()->set_driver("590.1");
    provenance->add_chain()->set_title("keep the row in registers");
    v1::Baseline* baseline = provenance->add_baselines();
    baseline->set_name("compile_default");
    baseline->set_median_ms(0.5);
    baseline->set_precision_class(v1::PRECISION_CLASS_TF32);
    return grpc::Status::OK;
  }
  grpc::Status ExportKernels(grpc::ServerContext*, const v1::ExportKernelsRequest* request,
                             grpc::ServerWriter<v1::ArchiveChunk>* writer) override {
    filter = request->filter();
    for (const char* line : {"header\n", "kernel\n", "end\n"}) {
      v1::ArchiveChunk chunk;
      chunk.set_data(line);
      writer->Write(chunk);
    }
    return grpc::Status::OK;
  }
  grpc::Status ImportKernels(grpc::ServerContext*, grpc::ServerReader<v1::ImportChunk>* reader,
                             v1::ImportKernelsReply* reply) override {
    v1::ImportChunk chunk;
    while (reader->Read(&chunk)) imported += chunk.data();
    if (imported != "header\nkernel\nend\n") {
      return {grpc::StatusCode::INVALID_ARGUMENT, "line 1: header.format must be \"warpsmith-bank\""};
    }
    reply->set_read(1);
    reply->set_queued(1);
    reply->add_notes("no worker of class H200 is connected");
    return grpc::Status::OK;
  }
  grpc::Status VerifyKernels(grpc::ServerContext*, const v1::VerifyKernelsRequest* request,
                             v1::VerifyKernelsReply* reply) override {
    filter = request->filter();
    if (filter.operator_family() == "nothing") return grpc::Status::OK;
    reply->set_queued(1);
    reply->add_search_ids("3f2a91c0");
    return grpc::Status::OK;
  }
  grpc::Status ListVerifications(grpc::ServerContext*, const v1::ListVerificationsRequest*,
                                 v1::ListVerificationsReply* reply) override {
    v1::Verification* one = reply->add_verifications();
    one->set_kernel_id("c0ffee1200000000");
    one->set_verdict(verdict);
    one->set_old_ms(0.25);
    one->set_new_ms(0.5);
    return grpc::Status::OK;
  }
  grpc::Status ListPending(grpc::ServerContext*, const v1::ListPendingRequest*, v1::ListPendingReply* reply) override {
    v1::PendingKernel* kernel = reply->add_kernels();
    kernel->set_id("pend0001");
    kernel->set_kind("import");
    kernel->set_reason("it is verified here before it is admitted");
    return grpc::Status::OK;
  }

  v1::KernelFilter filter;
  std::string imported;
  std::string verdict = "confirmed";
};

class BankFixture {
 public:
  BankFixture() : folder(*TemporaryDirectory::Create("cli-bank-test")) {
    address = "unix:" + (folder.path() / "c.sock").string();
    server = std::move(StartServer(address, {&service})->server);
    unsetenv("WARPSMITH_COORDINATOR");
  }
  ~BankFixture() { StopServer(*server, 0); }

  Printed Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bank");
    arguments.insert(arguments.end(), {"--coordinator", address});
    return RunIt(arguments);
  }

  FakeBankService service;
  TemporaryDirectory folder;
  std::string address;
  std::unique_ptr<grpc::Server> server;
};

TEST_CASE("bank show prints where a kernel comes from, and its source alone", "[unit]") {
  BankFixture fixture;
  const Printed all = fixture.Run({"show", "c0ffee12"});
  CHECK(all.code == kExitOk);
  for (const char* part :
       {"layer_norm", "trusted", "4.000 times", "3.900 to 4.100", "o3, effort high", "GPU-1234", "driver 590.1",
        "keep the row in registers", "compile_default: 0.5000 ms, tf32", "__global__ void k()"}) {
    CHECK_THAT(all.out, Catch::Contains(part));
  }
  CHECK_THAT(all.out, !Catch::Contains("\033"));
  CHECK(fixture.Run({"show", "c0ffee12", "--source"}).out == "__global__ void k() {}  // \033[2J\n");  // not a terminal
  CHECK(Json::parse(fixture.Run({"show", "c0ffee12", "--json"}).out)["provenance"][0]["model"] == "o3");
  CHECK(fixture.Run({"show", "abcdefgh"}).code == kExitNothing);
}

TEST_CASE("bank export writes a file that bank import takes", "[unit]") {
  BankFixture fixture;
  const std::string file = (fixture.folder.path() / "all.bank").string();
  const Printed saved = fixture.Run({"export", file, "--family", "softmax", "--champions"});
  CHECK(saved.code == kExitOk);
  CHECK_THAT(saved.out, Catch::Contains("1 kernels in"));
  CHECK(fixture.service.filter.operator_family() == "softmax");
  CHECK(fixture.service.filter.champions_only());
  CHECK(ReadFile(file).value() == "header\nkernel\nend\n");
  CHECK(fixture.Run({"export", "-"}).out == "header\nkernel\nend\n");
  const Printed loaded = fixture.Run({"import", file});
  CHECK(loaded.code == kExitOk);
  CHECK_THAT(loaded.out, Catch::Contains("1 are verified before") && Catch::Contains("no worker of class H200"));
  // Twice the same text is no archive.
  const Printed refused = fixture.Run({"import", file});
  CHECK(refused.code == kExitUsage);
  CHECK_THAT(refused.err, Catch::Contains("all.bank") && Catch::Contains("line 1: header.format"));
  CHECK(fixture.Run({"import", "/nowhere/x.bank"}).code == kExitUsage);
}

TEST_CASE("bank verify says what it queued, and with --wait how it went", "[unit]") {
  BankFixture fixture;
  CHECK_THAT(fixture.Run({"verify", "c0ffee12", "--older-than-harness", "h3"}).out, Catch::Contains("1 kernels will"));
  CHECK(fixture.service.filter.kernel_ids(0) == "c0ffee12");
  CHECK(fixture.service.filter.older_than_harness() == "h3");
  CHECK(fixture.Run({"verify", "--family", "nothing"}).code == kExitNothing);
  CHECK(fixture.Run({"verify", "--wait"}).code == kExitOk);
  fixture.service.verdict = "drifted";
  const Printed drifted = fixture.Run({"verify", "--wait"});
  CHECK(drifted.code == kExitFailed);
  CHECK_THAT(drifted.out, Catch::Contains("drifted") && Catch::Contains("0.2500") && Catch::Contains("0.5000"));
}

TEST_CASE("bank list --pending says what is not in the bank, and why", "[unit]") {
  BankFixture fixture;
  CHECK_THAT(fixture.Run({"list", "--pending"}).out, Catch::Contains("pend0001") && Catch::Contains("verified here"));
  CHECK(Json::parse(fixture.Run({"list", "--pending", "--json"}).out)["kernels"][0]["kind"] == "import");
}

}  // namespace
}  // namespace warpsmith::cli
