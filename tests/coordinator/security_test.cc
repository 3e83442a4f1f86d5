// A coordinator with tokens: whom a worker may speak as, what is too large, and the audit of what operators did.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "common/access.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "coordinator/api/audit_act.h"
#include "coordinator/api/worker_gate.h"
#include "coordinator/store/blob_store.h"
#include "tests/coordinator/cluster_fixture.h"
#include "warpsmith/v1/administration.grpc.pb.h"
#include "warpsmith/v1/audit.grpc.pb.h"
#include "warpsmith/v1/batch.grpc.pb.h"
#include "warpsmith/v1/operator.grpc.pb.h"
#include "warpsmith/v1/worker.grpc.pb.h"

namespace warpsmith::testing {
namespace {

using Catch::Contains;

std::chrono::system_clock::time_point In(int seconds) {
  return std::chrono::system_clock::now() + std::chrono::seconds(seconds);
}

// A cluster whose coordinator asks for tokens.
struct GuardedCluster : Cluster {
  GuardedCluster() : folder(TemporaryDirectory::Create("warpsmith-tokens-").value()) {
    tokens = (folder.path() / "tokens").string();
    alice = Add(Role::kOperator, "alice");
    vera = Add(Role::kViewer, "vera");
    node = Add(Role::kWorker, "node7");
    StopCoordinator();
    options.security.tokens = tokens;
    StartCoordinator();
    operators = v1::OperatorService::NewStub(ConnectTo(address(), alice));
    audit = v1::AuditService::NewStub(ConnectTo(address(), vera));
  }

  SecuritySettings Add(Role role, const std::string& name) {
    const NewToken made = MakeToken(role, name).value();
    lines += made.line + "\n";
    REQUIRE(WriteFileAtomically(tokens, lines).ok());
    SecuritySettings settings;
    settings.token_file = (folder.path() / name).string();
    REQUIRE(WriteFileAtomically(settings.token_file, made.token + "\n").ok());
    REQUIRE(chmod(settings.token_file.c_str(), 0600) == 0);
    return settings;
  }

  absl::StatusOr<std::string> SubmitAs(v1::SubmitSearchRequest request, const SecuritySettings& who) {
    auto stub = v1::OperatorService::NewStub(ConnectTo(address(), who));
    grpc::ClientContext context;
    context.set_deadline(In(20));
    v1::SubmitSearchReply reply;
    const absl::Status status = FromGrpc(stub->SubmitSearch(&context, request, &reply));
    if (!status.ok()) return status;
    return reply.search_id();
  }

  v1::ListAuditReply Audit(const std::string& search_id = "") {
    grpc::ClientContext context;
    context.set_deadline(In(20));
    v1::ListAuditRequest request;
    request.set_search_id(search_id);
    v1::ListAuditReply reply;
    const grpc::Status status = audit->ListAudit(&context, request, &reply);
    INFO(status.error_message());
    REQUIRE(status.ok());
    return reply;
  }

  TemporaryDirectory folder;
  std::string tokens;
  std::string lines;
  SecuritySettings alice, vera, node;
  std::unique_ptr<v1::OperatorService::Stub> operators;
  std::unique_ptr<v1::AuditService::Stub> audit;
};

v1::WorkerMessage HelloOf(const std::string& worker_id) {
  v1::WorkerMessage message;
  message.mutable_hello()->set_worker_id(worker_id);
  message.mutable_hello()->set_boot_id("boot1");
  message.mutable_hello()->mutable_device()->set_name("emulated");
  message.mutable_hello()->mutable_device()->set_device_class("emulated");
  message.mutable_hello()->mutable_device()->set_emulated(true);
  return message;
}

// A worker's stream by hand.
struct RawSession {
  RawSession(const std::string& address, const SecuritySettings& who)
      : stub(v1::WorkerService::NewStub(ConnectTo(address, who))) {
    context.set_deadline(In(30));
    stream = stub->Session(&context);
  }
  ~RawSession() { context.TryCancel(); }
  bool Say(const v1::WorkerMessage& said) { return stream->Write(said); }
  // The next message, or none and the stream's end in `end`.
  bool Hear() {
    if (stream->Read(&message)) return true;
    end = FromGrpc(stream->Finish());
    return false;
  }
  std::unique_ptr<v1::WorkerService::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::CoordinatorMessage>> stream;
  v1::CoordinatorMessage message;
  absl::Status end;
};

// How a session ends that begins with this message.
absl::Status EndOf(const std::string& address, const SecuritySettings& who, const v1::WorkerMessage& first) {
  RawSession session(address, who);
  session.Say(first);
  while (session.Hear()) {
    if (session.message.has_welcome()) return absl::OkStatus();
  }
  return session.end;
}

TEST_CASE("a worker speaks as the node that its token names, and as no other", "[pg][security]") {
  GuardedCluster cluster;
  CHECK(EndOf(cluster.address(), cluster.node, HelloOf("node7")).ok());
  CHECK(EndOf(cluster.address(), cluster.node, HelloOf("node7-3")).ok());
  for (const char* other : {"node8", "node70", "node7-x", "node"}) {
    const absl::Status end = EndOf(cluster.address(), cluster.node, HelloOf(other));
    CHECK(end.code() == absl::StatusCode::kPermissionDenied);
    CHECK_THAT(Message(end), Contains("Hello.worker_id") && Contains("node7") && Contains("--worker-id"));
  }
  CHECK(EndOf(cluster.address(), cluster.alice, HelloOf("node7")).code() == absl::StatusCode::kPermissionDenied);
  CHECK(EndOf(cluster.address(), {}, HelloOf("node7")).code() == absl::StatusCode::kUnauthenticated);
  CHECK(cluster.Query("SELECT string_agg(worker_id, ' ' ORDER BY worker_id) FROM worker") == "node7 node7-3");
}

TEST_CASE("a session whose token is taken away ends with its next message", "[pg][security]") {
  GuardedCluster cluster;
  RawSession session(cluster.address(), cluster.node);
  REQUIRE(session.Say(HelloOf("node7")));
  REQUIRE(session.Hear());
  cluster.lines = cluster.lines.substr(0, cluster.lines.find("worker "));
  REQUIRE(WriteFileAtomically(cluster.tokens, cluster.lines).ok());
  v1::WorkerMessage sync;
  sync.mutable_sync()->set_free_slots(1);
  for (int i = 0; i < 200 && session.Say(sync); ++i) RealClock().SleepFor(std::chrono::milliseconds(50));
  while (session.Hear()) {
  }
  CHECK(session.end.code() == absl::StatusCode::kUnauthenticated);
}

TEST_CASE("what a worker sends has limits, each named when it is passed", "[pg][security]") {
  Cluster cluster;
  const auto refusal = [&](const v1::WorkerMessage& message) { return Message(EndOf(cluster.address(), {}, message)); };
  v1::WorkerMessage hello = HelloOf("w1");
  for (int i = 0; i <= api::kMostRunningTasks; ++i) hello.mutable_hello()->add_running()->set_task_id(i);
  CHECK_THAT(refusal(hello), Contains("Hello.running") && Contains("1024"));
  hello = HelloOf("w1");
  hello.mutable_hello()->mutable_device()->set_driver(std::string(api::kLargestDevice, 'd'));
  CHECK_THAT(refusal(hello), Contains("Hello.device") && Contains(std::to_string(api::kLargestDevice)));
  hello = HelloOf("w1");
  hello.mutable_hello()->set_version(std::string(api::kLargestHello, 'v'));
  CHECK_THAT(refusal(hello), Contains("Hello") && Contains(std::to_string(api::kLargestHello)));
  CHECK_THAT(refusal(HelloOf(std::string(129, 'w'))), Contains("Hello.worker_id") && Contains("128"));
  CHECK(cluster.Query("SELECT count(*) FROM worker") == "0");

  RawSession session(cluster.address(), {});
  REQUIRE(session.Say(HelloOf("w1")));
  REQUIRE(session.Hear());
  v1::WorkerMessage sync;
  for (int i = 0; i <= api::kMostRunningTasks; ++i) sync.mutable_sync()->add_running()->set_task_id(i);
  session.Say(sync);
  while (session.Hear()) {
  }
  CHECK(session.end.code() == absl::StatusCode::kInvalidArgument);
  CHECK_THAT(Message(session.end), Contains("Sync.running") && Contains("1024"));
}

TEST_CASE("a result over its limit fails its task with that reason instead of coming for ever", "[pg][security]") {
  Cluster cluster;
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  RawSession session(cluster.address(), {});
  v1::WorkerMessage hello = HelloOf("w1");
  hello.mutable_hello()->set_slots(1);
  REQUIRE(session.Say(hello));
  int acknowledged = 0;
  while (acknowledged < 3 && session.Hear()) {
    if (session.message.has_ack()) ++acknowledged;
    if (!session.message.has_assignment()) continue;
    v1::WorkerMessage result;
    result.mutable_result()->set_task_id(session.message.assignment().task_id());
    result.mutable_result()->set_epoch(session.message.assignment().epoch());
    result.mutable_result()->mutable_intake()->set_error(std::string(api::kLargestResult + 1, 'e'));
    REQUIRE(session.Say(result));
  }
  CHECK(acknowledged == 3);
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_FAILED);
  CHECK_THAT(search.error(), Contains("result has") && Contains(std::to_string(api::kLargestResult)));
}

TEST_CASE("blobs and sources over their limits are refused whole", "[pg][security]") {
  Cluster cluster;
  const std::string blobs = cluster.Query("SELECT count(*) FROM blob");
  auto stub = v1::WorkerService::NewStub(ConnectTo(cluster.address(), {}));
  const auto put = [&](const std::vector<size_t>& chunks, const std::string& sha256) {
    grpc::ClientContext context;
    context.set_deadline(In(30));
    v1::BlobReply reply;
    auto writer = stub->PutBlob(&context, &reply);
    for (const size_t size : chunks) {
      v1::BlobChunk chunk;
      chunk.set_sha256(sha256);
      chunk.set_data(std::string(size, 'x'));
      if (!writer->Write(chunk)) break;
    }
    writer->WritesDone();
    return writer->Finish().error_message();
  };
  CHECK_THAT(put({(1u << 20) + 1}, ""), Contains("a chunk has at most 1048576"));
  CHECK_THAT(put(std::vector<size_t>(17, 1u << 20), ""), Contains(std::to_string(store::kMaxBlobBytes)));
  CHECK_THAT(put({10}, std::string(1000, 'a')), Contains("BlobChunk.sha256"));

  v1::SubmitSearchRequest large = SmallSearch();
  large.set_source(std::string(store::kMaxSourceBytes + 1, '#'));
  CHECK_THAT(Message(cluster.Submit(large).status()), Contains("SubmitSearchRequest.source") && Contains("1048576"));
  v1::SubmitSearchRequest long_settings = SmallSearch();
  for (int i = 0; i < 2000; ++i) long_settings.mutable_settings()->add_models(std::string(50, 'm'));
  CHECK_THAT(Message(cluster.Submit(long_settings).status()), Contains("settings"));
  CHECK(cluster.Query("SELECT count(*) FROM blob") == blobs);
  CHECK(cluster.Query("SELECT count(*) FROM search") == "0");

  auto worker = cluster.Worker("w1");
  worker->hold_evaluations = true;
  const std::string id = cluster.Submit(SmallSearch()).value();
  REQUIRE(Cluster::Eventually([&] { return cluster.Get(id)->state() == v1::SEARCH_STATE_RUNNING; }));
  v1::InjectKernelRequest kernel;
  kernel.set_search_id(id);
  kernel.set_source(std::string(store::kMaxSourceBytes + 1, '/'));
  CHECK_THAT(Message(cluster.InjectKernel(kernel).status()),
             Contains("InjectKernelRequest.source") && Contains("1048576"));
}

TEST_CASE("sessions are counted: in all, and of each token", "[security]") {
  api::SessionLimits limits;
  for (int i = 0; i < api::kMostSessionsOfAToken; ++i) REQUIRE(limits.Enter("node7").ok());
  const absl::Status refused = limits.Enter("node7");
  CHECK(refused.code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(Message(refused), Contains("node7") && Contains("64"));
  CHECK(limits.Enter("node8").ok());
  limits.Leave("node7");
  CHECK(limits.Enter("node7").ok());
  for (int i = api::kMostSessionsOfAToken + 1; i < api::kMostSessions; ++i) REQUIRE(limits.Enter("").ok());
  CHECK_THAT(Message(limits.Enter("")), Contains("4096"));
  limits.Leave("");
  CHECK(limits.Enter("").ok());
}

TEST_CASE("the audit says who did what, once, and in the act's own transaction", "[pg][security]") {
  GuardedCluster cluster;
  v1::SubmitSearchRequest request = SmallSearch();
  request.set_submitted_by("somebody else");
  const std::string id = cluster.SubmitAs(request, cluster.alice).value();
  CHECK_FALSE(cluster.SubmitAs(request, cluster.vera).ok());
  request.set_source("");
  CHECK_FALSE(cluster.SubmitAs(request, cluster.alice).ok());  // nothing was done
  grpc::ClientContext context;
  v1::GetSearchRequest cancel;
  cancel.set_search_id(id.substr(0, 8));
  v1::Search cancelled;
  REQUIRE(cluster.operators->CancelSearch(&context, cancel, &cancelled).ok());
  CHECK(cancelled.submitted_by() == "alice");  // the token's name, whatever the client says

  const v1::ListAuditReply all = cluster.Audit();
  REQUIRE(all.entries_size() == 2);
  const v1::AuditEntry& last = all.entries(0);
  CHECK(last.action() == "OperatorService/CancelSearch");
  CHECK(last.actor() == "alice");
  CHECK(last.role() == "operator");
  CHECK(last.search_id() == id);
  CHECK_THAT(last.peer(), Contains("127.0.0.1"));
  const v1::AuditEntry& first = all.entries(1);
  CHECK(first.action() == "OperatorService/SubmitSearch");
  CHECK(first.search_id() == id);
  CHECK_THAT(first.detail(), Contains("name=softmax") && Contains("source=") && Contains("bytes") &&
                                 Contains("settings.rounds=2") && !Contains("class Model"));
  CHECK(cluster.Audit(id.substr(0, 6)).entries_size() == 2);
  CHECK(last.at_us() >= first.at_us());
  // One transaction: the search's row and the audit's were written by the same one.
  CHECK(cluster.Query("SELECT a.xmin = s.xmin FROM audit a, event s WHERE a.id = 1 AND s.id = 1") == "t");
  cluster.Query("DO $$ BEGIN UPDATE audit SET actor = 'mallory'; EXCEPTION WHEN raise_exception THEN RETURN; END $$");
  CHECK(cluster.Query("SELECT count(*) FROM audit WHERE actor = 'alice'") == "2");
}

TEST_CASE("every service's acts are audited: batches paused, workers drained", "[pg][security]") {
  GuardedCluster cluster;
  const auto call = [](const auto& method, const auto& request, auto* reply) {
    grpc::ClientContext context;
    context.set_deadline(In(20));
    const grpc::Status status = method(&context, request, reply);
    INFO(status.error_message());
    CHECK(status.ok());
  };
  RawSession session(cluster.address(), cluster.node);
  REQUIRE(session.Say(HelloOf("node7")));
  REQUIRE(session.Hear());
  REQUIRE(Cluster::Eventually([&] { return cluster.Query("SELECT count(*) FROM worker") == "1"; }));
  auto channel = ConnectTo(cluster.address(), cluster.alice);
  auto batches = v1::BatchService::NewStub(channel);
  auto administration = v1::AdministrationService::NewStub(channel);
  v1::SubmitBatchRequest submit;
  submit.set_name("level1");
  submit.set_submitted_by("mallory");
  v1::ProblemSource* problem = submit.add_problems();
  problem->set_name("softmax");
  problem->set_source("class Model: pass\n");
  v1::Batch batch;
  call([&](auto... a) { return batches->SubmitBatch(a...); }, submit, &batch);
  v1::GetBatchRequest pause;
  pause.set_batch_id(batch.id());
  call([&](auto... a) { return batches->PauseBatch(a...); }, pause, &batch);
  v1::DrainWorkerRequest drain;
  drain.set_worker_id("node7");
  v1::DrainWorkerReply drained;
  call([&](auto... a) { return administration->DrainWorker(a...); }, drain, &drained);

  const v1::ListAuditReply audit = cluster.Audit();
  REQUIRE(audit.entries_size() == 3);
  CHECK(audit.entries(2).action() == "BatchService/SubmitBatch");
  CHECK_THAT(audit.entries(2).detail(),
             Contains("name=level1") && Contains("problems=1 items") && !Contains("mallory"));
  CHECK(audit.entries(1).action() == "BatchService/PauseBatch");
  CHECK_THAT(audit.entries(1).detail(), Contains(batch.id()));
  CHECK(audit.entries(0).action() == "AdministrationService/DrainWorker");
  CHECK_THAT(audit.entries(0).detail(), Contains("worker_id=node7"));
  for (const v1::AuditEntry& entry : audit.entries()) CHECK(entry.actor() == "alice");
}

TEST_CASE("without tokens the audit names the user that the client says", "[pg][security]") {
  Cluster cluster;
  const std::string id = cluster.Submit(SmallSearch()).value();
  CHECK(cluster.Cancel(id).ok());
  CHECK(cluster.Query("SELECT string_agg(action, ' ' ORDER BY id) FROM audit") ==
        "OperatorService/SubmitSearch OperatorService/CancelSearch");
  CHECK(cluster.Query("SELECT DISTINCT role FROM audit") == "local");
  CHECK_THAT(cluster.Query("SELECT DISTINCT actor FROM audit"),
             Catch::StartsWith("local:" + std::to_string(geteuid()) + "/"));
}

TEST_CASE("an act's detail is short, and shows no source", "[unit]") {
  v1::InjectKernelRequest request;
  request.set_search_id("abcdefgh");
  request.set_source("__global__ void f() {}");
  request.set_title("by\nhand");
  CHECK(api::DetailOf(request).find("search_id=abcdefgh source=") == 0);
  CHECK_THAT(api::DetailOf(request), Contains("title=by hand") && !Contains("__global__") && Contains("(22 bytes)"));
  request.set_title(std::string(1000, 't'));
  CHECK(api::DetailOf(request).size() <= 600);
  CHECK(api::ActionOf("/warpsmith.v1.OperatorService/CancelSearch") == "OperatorService/CancelSearch");
  CHECK(api::CurrentAct() == nullptr);
  {
    auto act = std::make_shared<api::Act>();
    api::SetCurrentAct(act);
    api::NoteSearch("s1");
    CHECK(act->search_id == "s1");
  }
  CHECK(api::CurrentAct() == nullptr);  // it ends with its call
  v1::SubmitSearchRequest submitted;
  api::SetSubmitter("alice", &submitted);
  CHECK(submitted.submitted_by() == "alice");
  v1::GetSearchRequest without;
  api::SetSubmitter("alice", &without);
  CHECK(without.ByteSizeLong() == 0);
}

}  // namespace
}  // namespace warpsmith::testing
