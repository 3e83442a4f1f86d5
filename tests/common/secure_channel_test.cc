// Real gRPC connections: TLS that holds, each way in which it does not, and tokens over sync and callback services.
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <sstream>

#include "common/access.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/grpc_access.h"
#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "tests/support/certificates.h"
#include "warpsmith/v1/operator.grpc.pb.h"
#include "warpsmith/v1/worker.grpc.pb.h"

namespace warpsmith {
namespace {

using Catch::Contains;
using testing::Authority;
using testing::CertificateFiles;

// Says who calls. Sync.
class EchoOperators final : public v1::OperatorService::Service {
 public:
  explicit EchoOperators(std::shared_ptr<const AccessControl>* access) : access_(access) {}
  grpc::Status GetStatus(grpc::ServerContext* context, const v1::GetStatusRequest*, v1::ClusterStatus* reply) override {
    const Actor actor = ActorOf(*context, access_->get());
    reply->set_version(actor.name + "/" + actor.role);
    return grpc::Status::OK;
  }
  grpc::Status SubmitSearch(grpc::ServerContext* context, const v1::SubmitSearchRequest*,
                            v1::SubmitSearchReply* reply) override {
    ++submitted;
    reply->set_search_id(ActorOf(*context, access_->get()).name);
    return grpc::Status::OK;
  }
  std::atomic<int> submitted{0};

 private:
  std::shared_ptr<const AccessControl>* const access_;
};

// Answers Hello with the caller's name. Callback.
class EchoReactor final : public grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage> {
 public:
  explicit EchoReactor(std::string name) {
    answer_.mutable_welcome()->set_coordinator_version(std::move(name));
    StartRead(&message_);
  }
  void OnReadDone(bool ok) override {
    if (ok) {
      StartWrite(&answer_);
    } else {
      Finish(grpc::Status::OK);
    }
  }
  void OnWriteDone(bool) override { Finish(grpc::Status::OK); }
  void OnDone() override { delete this; }

 private:
  v1::WorkerMessage message_;
  v1::CoordinatorMessage answer_;
};

class EchoWorkers final : public v1::WorkerService::WithCallbackMethod_Session<v1::WorkerService::Service> {
 public:
  explicit EchoWorkers(std::shared_ptr<const AccessControl>* access) : access_(access) {}
  grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>* Session(
      grpc::CallbackServerContext* context) override {
    ++sessions;
    return new EchoReactor(ActorOf(*context, access_->get()).name);
  }
  std::atomic<int> sessions{0};

 private:
  std::shared_ptr<const AccessControl>* const access_;
};

struct Server {
  explicit Server(ServerOptions options, const std::string& listen = "127.0.0.1:0") {
    access = options.access;
    running = StartServer(listen, {&operators, &workers}, std::move(options)).value();
    address = listen.rfind("unix:", 0) == 0 ? listen : "127.0.0.1:" + std::to_string(running.port);
  }
  ~Server() { StopServer(*running.server, 0.2); }
  std::shared_ptr<const AccessControl> access;
  EchoOperators operators{&access};
  EchoWorkers workers{&access};
  RunningServer running;
  std::string address;
};

ServerOptions Secured(const CertificateFiles& files, const std::string& client_ca = "") {
  ServerOptions options;
  options.tls.certificate = files.certificate;
  options.tls.key = files.key;
  options.tls.client_ca = client_ca;
  options.tls.refresh_seconds = 1;
  return options;
}

SecuritySettings Trusting(const std::string& ca, const CertificateFiles& own = {}) {
  SecuritySettings settings;
  settings.tls.ca = ca;
  settings.tls.certificate = own.certificate;
  settings.tls.key = own.key;
  settings.tls.refresh_seconds = 1;
  return settings;
}

// Who the server took us for, or why not.
absl::StatusOr<std::string> Ask(const std::string& address, const SecuritySettings& settings) {
  auto stub = v1::OperatorService::NewStub(ConnectTo(address, settings));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  v1::ClusterStatus reply;
  const absl::Status status = FromGrpc(stub->GetStatus(&context, v1::GetStatusRequest(), &reply));
  if (!status.ok()) return ExplainUnavailable(address, status, settings);
  return reply.version();
}

absl::StatusOr<std::string> Submit(const std::string& address, const SecuritySettings& settings) {
  auto stub = v1::OperatorService::NewStub(ConnectTo(address, settings));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  v1::SubmitSearchReply reply;
  const absl::Status status = FromGrpc(stub->SubmitSearch(&context, v1::SubmitSearchRequest(), &reply));
  if (!status.ok()) return status;
  return reply.search_id();
}

absl::StatusOr<std::string> Work(const std::string& address, const SecuritySettings& settings) {
  auto stub = v1::WorkerService::NewStub(ConnectTo(address, settings));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  auto stream = stub->Session(&context);
  v1::WorkerMessage hello;
  hello.mutable_hello()->set_worker_id("node7");
  stream->Write(hello);
  v1::CoordinatorMessage answer;
  const bool answered = stream->Read(&answer);
  stream->WritesDone();
  const absl::Status status = FromGrpc(stream->Finish());
  if (!status.ok()) return status;
  return answered ? answer.welcome().coordinator_version() : "nothing";
}

std::string Why(const absl::StatusOr<std::string>& result) { return result.ok() ? "" : Message(result.status()); }

// A tokens file and the clients' files beside it.
struct Tokens {
  Tokens() : folder(TemporaryDirectory::Create("warpsmith-tokens-").value()) {
    path = (folder.path() / "tokens").string();
  }
  // A client's settings with a fresh token of the role.
  SecuritySettings Add(Role role, const std::string& name, SecuritySettings settings = {}) {
    const NewToken made = MakeToken(role, name).value();
    lines += made.line + "\n";
    secrets.push_back(made.token);
    Save();
    settings.token_file = (folder.path() / (name + "-" + std::to_string(secrets.size()))).string();
    REQUIRE(WriteFileAtomically(settings.token_file, made.token + "\n").ok());
    REQUIRE(chmod(settings.token_file.c_str(), 0600) == 0);
    return settings;
  }
  void Save() const { REQUIRE(WriteFileAtomically(path, lines).ok()); }
  TemporaryDirectory folder;
  std::string path;
  std::string lines;
  std::vector<std::string> secrets;
};

TEST_CASE("TLS: a connection whose certificate is good", "[tls]") {
  Authority lab;
  const Server server(Secured(lab.Make("server")));
  CHECK_THAT(*Ask(server.address, Trusting(lab.ca())), Contains("/local"));
  CHECK_THAT(*Ask("localhost:" + std::to_string(server.running.port), Trusting(lab.ca())), Contains("/local"));
  CHECK(Work(server.address, Trusting(lab.ca())).ok());
}

TEST_CASE("TLS: each bad certificate is refused with its reason", "[tls]") {
  Authority lab;
  Authority stranger("stranger");
  {
    const Server server(Secured(lab.Make("server")));
    CHECK_THAT(Why(Ask(server.address, Trusting(stranger.ca()))),
               Contains("not signed by an authority") && Contains(stranger.ca()) && Contains("--tls-ca"));
    // On loopback one may leave TLS out, but not where the server has it.
    CHECK_THAT(Why(Ask(server.address, {})), Contains("speaks TLS") && Contains("--tls-ca"));
  }
  {
    const Server server(Secured(lab.Make("server", "DNS:node1.example,IP:10.1.2.3")));
    CHECK_THAT(Why(Ask(server.address, Trusting(lab.ca()))), Contains("node1.example") && Contains("10.1.2.3") &&
                                                                 Contains("127.0.0.1") &&
                                                                 Contains("subjectAltName=IP:127.0.0.1"));
    CHECK_THAT(Why(Ask("localhost:" + std::to_string(server.running.port), Trusting(lab.ca()))),
               Contains("subjectAltName=DNS:localhost"));
  }
  {
    const Server plain(ServerOptions{});
    CHECK_THAT(Why(Ask(plain.address, Trusting(lab.ca()))), Contains("TLS") && Contains(plain.address));
    CHECK_THAT(*Ask(plain.address, {}), Contains("local:") && Contains("/local"));
  }
  // Files that cannot be used are told before anything is sent.
  const CertificateFiles good = lab.Make("good");
  CHECK_THAT(Why(Ask("127.0.0.1:1", Trusting("/nowhere/ca.pem"))), Contains("/nowhere/ca.pem"));
  CHECK_THAT(Why(Ask("127.0.0.1:1", Trusting(lab.ca(), {good.certificate, lab.Make("x").key}))),
             Contains("does not belong"));
  CHECK_THAT(Why(Ask("node7.example:7700", {})), Contains("--tls-ca"));
  CHECK_THAT(Why(Work("node7.example:7700", {})), Contains("--tls-ca"));
  const CertificateFiles expired = lab.Make("expired", "IP:127.0.0.1", -1);
  auto refused = StartServer("127.0.0.1:0", {}, Secured(expired));
  CHECK_THAT(Message(refused.status()), Contains(expired.certificate) && Contains("expired on"));
}

TEST_CASE("TLS: a certificate that expires while its server runs is told by its date", "[tls]") {
  Authority lab;
  // Put in place after the start: what is checked then is good.
  const CertificateFiles files = lab.Make("server");
  const CertificateFiles expired = lab.Make("server", "DNS:localhost,IP:127.0.0.1", -1);
  const Server server(Secured(files));
  std::filesystem::copy_file(expired.key, files.key, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::copy_file(expired.certificate, files.certificate, std::filesystem::copy_options::overwrite_existing);
  absl::StatusOr<std::string> asked = "";
  for (int i = 0; i < 100 && asked.ok(); ++i) {
    RealClock().SleepFor(std::chrono::milliseconds(100));
    asked = Ask(server.address, Trusting(lab.ca()));
  }
  CHECK_THAT(Why(asked), Contains("expired on") && Contains("server") && Contains("make a new one"));
}

TEST_CASE("TLS: certificates that are replaced are used by new connections", "[tls]") {
  Authority lab;
  const CertificateFiles files = lab.Make("server", "DNS:elsewhere.example");
  const CertificateFiles renewed = lab.Make("server");
  const Server server(Secured(files));
  CHECK_FALSE(Ask(server.address, Trusting(lab.ca())).ok());
  std::filesystem::copy_file(renewed.key, files.key, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::copy_file(renewed.certificate, files.certificate, std::filesystem::copy_options::overwrite_existing);
  bool taken = false;
  for (int i = 0; i < 100 && !taken; ++i) {
    RealClock().SleepFor(std::chrono::milliseconds(100));
    taken = Ask(server.address, Trusting(lab.ca())).ok();
  }
  CHECK(taken);
}

TEST_CASE("mutual TLS: a client's certificate is asked for and checked", "[tls]") {
  Authority lab;
  Authority people("people");
  const Server server(Secured(lab.Make("server"), people.ca()));
  const CertificateFiles alice = people.Make("alice", "DNS:alice");
  CHECK(Ask(server.address, Trusting(lab.ca(), alice)).ok());
  CHECK(Work(server.address, Trusting(lab.ca(), alice)).ok());
  CHECK_THAT(Why(Ask(server.address, Trusting(lab.ca()))),
             Contains("client certificate") && Contains("--tls-certificate"));
  const CertificateFiles self = lab.Make("self");
  CHECK_THAT(Why(Ask(server.address, Trusting(lab.ca(), self))), Contains(self.certificate));
  CHECK(server.operators.submitted == 0);
}

TEST_CASE("what leaves the machine needs TLS and tokens", "[tls]") {
  Authority lab;
  const auto refusal = [](ServerOptions options) {
    return Message(StartServer("0.0.0.0:0", {}, std::move(options)).status());
  };
  CHECK_THAT(refusal({}), Contains("0.0.0.0:0") && Contains("--tls-certificate"));
  CHECK_THAT(refusal(Secured(lab.Make("server"))), Contains("--tokens") && Contains("warpsmith token new"));
  Tokens tokens;
  const SecuritySettings alice = tokens.Add(Role::kOperator, "alice", Trusting(lab.ca()));
  ServerOptions tokens_alone;
  tokens_alone.access = AccessControl::Open(tokens.path).value();
  CHECK_THAT(refusal(std::move(tokens_alone)), Contains("--tls-certificate"));
  ServerOptions both = Secured(lab.Make("server"));
  both.access = AccessControl::Open(tokens.path).value();
  const Server server(std::move(both), "0.0.0.0:0");
  CHECK(*Ask(server.address, alice) == "alice/operator");
}

// The same over TLS, on plain loopback and on a Unix socket.
void CheckRoles(const std::string& address, Tokens& tokens, const SecuritySettings& base, const Server& server) {
  const SecuritySettings alice = tokens.Add(Role::kOperator, "alice", base);
  const SecuritySettings vera = tokens.Add(Role::kViewer, "vera", base);
  const SecuritySettings node = tokens.Add(Role::kWorker, "node7", base);
  const SecuritySettings gate = tokens.Add(Role::kGateway, "gate", base);
  for (int i = 0; i < 400 && !Ask(address, alice).ok(); ++i) RealClock().SleepFor(std::chrono::milliseconds(10));

  CHECK(*Ask(address, alice) == "alice/operator");
  CHECK(*Submit(address, alice) == "alice");
  CHECK(Work(address, alice).status().code() == absl::StatusCode::kPermissionDenied);
  CHECK(*Ask(address, vera) == "vera/viewer");
  const int before = server.operators.submitted;
  CHECK(Submit(address, vera).status().code() == absl::StatusCode::kPermissionDenied);
  CHECK_THAT(Why(Submit(address, vera)), Contains("SubmitSearch") && Contains("operator") && Contains("vera"));
  CHECK(Submit(address, node).status().code() == absl::StatusCode::kPermissionDenied);
  CHECK(Submit(address, gate).status().code() == absl::StatusCode::kPermissionDenied);
  CHECK(Submit(address, base).status().code() == absl::StatusCode::kUnauthenticated);
  CHECK_THAT(Why(Submit(address, base)), Contains("--token-file"));
  CHECK(server.operators.submitted == before);  // no handler ran

  CHECK(*Work(address, node) == "node7");
  const int sessions = server.workers.sessions;
  CHECK(Work(address, vera).status().code() == absl::StatusCode::kPermissionDenied);
  CHECK(Work(address, gate).status().code() == absl::StatusCode::kPermissionDenied);
  CHECK(Work(address, base).status().code() == absl::StatusCode::kUnauthenticated);
  CHECK(server.workers.sessions == sessions);
  CHECK(Ask(address, node).status().code() == absl::StatusCode::kPermissionDenied);

  // Health is everybody's: load balancers have no token.
  auto channel = ConnectTo(address, base);
  CHECK(channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10)));
}

ServerOptions WithTokens(ServerOptions options, const Tokens& tokens) {
  options.access = AccessControl::Open(tokens.path, std::chrono::milliseconds(10)).value();
  return options;
}

TEST_CASE("roles hold over sync and callback services, with and without TLS", "[tokens]") {
  Authority lab;
  Tokens tokens;
  tokens.Add(Role::kOperator, "first");
  SECTION("TLS") {
    const Server server(WithTokens(Secured(lab.Make("server")), tokens));
    CheckRoles(server.address, tokens, Trusting(lab.ca()), server);
  }
  SECTION("loopback") {
    const Server server(WithTokens({}, tokens));
    CheckRoles(server.address, tokens, {}, server);
  }
  SECTION("Unix socket") {
    const Server server(WithTokens({}, tokens), "unix:" + (tokens.folder.path() / "s").string());
    CheckRoles(server.address, tokens, {}, server);
  }
}

TEST_CASE("a token that is taken away is refused at once, a new one taken, without a restart", "[tokens]") {
  Tokens tokens;
  const SecuritySettings alice = tokens.Add(Role::kOperator, "alice");
  const Server server(WithTokens({}, tokens));
  CHECK(Ask(server.address, alice).ok());
  tokens.lines.clear();
  const SecuritySettings bob = tokens.Add(Role::kOperator, "bob");
  bool refused = false;
  for (int i = 0; i < 1000 && !refused; ++i) {
    RealClock().SleepFor(std::chrono::milliseconds(10));
    refused = Ask(server.address, alice).status().code() == absl::StatusCode::kUnauthenticated;
  }
  CHECK(refused);
  CHECK(*Ask(server.address, bob) == "bob/operator");
}

TEST_CASE("a worker's certificate and token must be the same node's", "[tokens][tls]") {
  Authority lab;
  Tokens tokens;
  const SecuritySettings seven = tokens.Add(Role::kWorker, "node7", Trusting(lab.ca(), lab.Make("node7")));
  SecuritySettings mixed = Trusting(lab.ca(), lab.Make("node8"));
  mixed.token_file = seven.token_file;
  const Server server(WithTokens(Secured(lab.Make("server"), lab.ca()), tokens));
  CHECK(*Work(server.address, seven) == "node7");
  CHECK(Work(server.address, mixed).status().code() == absl::StatusCode::kPermissionDenied);
  CHECK_THAT(Why(Work(server.address, mixed)), Contains("node7") && Contains("node8"));
}

TEST_CASE("tokens stand in no log", "[tokens]") {
  std::ostringstream log;
  const auto before = spdlog::default_logger();
  auto logger = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  logger->set_level(spdlog::level::trace);
  spdlog::set_default_logger(logger);
  Tokens tokens;
  const SecuritySettings alice = tokens.Add(Role::kOperator, "alice");
  const SecuritySettings vera = tokens.Add(Role::kViewer, "vera");
  {
    const Server server(WithTokens({}, tokens));
    CHECK(Ask(server.address, alice).ok());
    CHECK_FALSE(Submit(server.address, vera).ok());
    tokens.lines = "nonsense " + tokens.secrets[0] + " x\n";  // a token where a line should be
    tokens.Save();
    for (int i = 0; i < 1000 && log.str().find("stay in use") == std::string::npos; ++i) {
      RealClock().SleepFor(std::chrono::milliseconds(10));
    }
    Tokens others;
    CHECK_FALSE(Ask(server.address, others.Add(Role::kOperator, "mallory")).ok());
    for (const std::string& secret : others.secrets) tokens.secrets.push_back(secret);
  }
  spdlog::set_default_logger(before);
  CHECK_THAT(log.str(), Contains("stay in use") && Contains("refused") && Contains("vera"));
  for (const std::string& secret : tokens.secrets) CHECK(log.str().find(secret.substr(10)) == std::string::npos);
}

TEST_CASE("a message or metadata over its limit is refused, and the text says what is too large", "[limits]") {
  const Server server(ServerOptions{});
  auto stub = v1::OperatorService::NewStub(ConnectTo(server.address, {}));
  {
    grpc::ClientContext context;
    context.AddMetadata("x-padding", std::string(kMaxMetadataBytes + 1024, 'x'));
    v1::ClusterStatus reply;
    const grpc::Status status = stub->GetStatus(&context, v1::GetStatusRequest(), &reply);
    CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
    CHECK_THAT(status.error_message(), Contains("metadata size exceeds limit"));
  }
  {
    // A client of another's making, which does not keep to the limit itself.
    grpc::ChannelArguments arguments;
    arguments.SetMaxSendMessageSize(-1);
    auto other = v1::OperatorService::NewStub(
        grpc::CreateCustomChannel(server.address, grpc::InsecureChannelCredentials(), arguments));
    grpc::ClientContext context;
    v1::SubmitSearchRequest request;
    request.set_source(std::string(kMaxMessageBytes + 1, 'x'));
    v1::SubmitSearchReply reply;
    const grpc::Status status = other->SubmitSearch(&context, request, &reply);
    CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
    CHECK_THAT(status.error_message(), Contains(std::to_string(kMaxMessageBytes)));
    CHECK(server.operators.submitted == 0);
  }
}

}  // namespace
}  // namespace warpsmith
