// Tokens: their files, what each role may call, whom a worker's token lets speak.
#include "common/access.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "common/file.h"
#include "common/hash.h"

namespace warpsmith {
namespace {

constexpr char kSubmit[] = "/warpsmith.v1.OperatorService/SubmitSearch";
constexpr char kListAll[] = "/warpsmith.v1.OperatorService/ListSearches";
constexpr char kSessionCall[] = "/warpsmith.v1.WorkerService/Session";
constexpr char kShare[] = "/warpsmith.v1.RateSharingService/ShareRates";
constexpr char kRepairCall[] = "/warpsmith.v1.GatewayService/Repair";

struct TokensFile {
  TokensFile() : folder(TemporaryDirectory::Create("warpsmith-tokens-").value()) {
    path = (folder.path() / "tokens").string();
  }
  void Write(const std::string& text, mode_t mode = 0640) const {
    REQUIRE(WriteFileAtomically(path, text).ok());
    REQUIRE(chmod(path.c_str(), mode) == 0);
  }
  std::string Refusal() const {
    auto access = AccessControl::Open(path);
    return access.ok() ? "" : Message(access.status());
  }
  TemporaryDirectory folder;
  std::string path;
};

TEST_CASE("a new token is in its line only as a hash", "[unit]") {
  const NewToken made = MakeToken(Role::kWorker, "node7").value();
  CHECK(made.token.size() == 74);
  CHECK(made.line == "worker " + Sha256Hex(made.token) + " node7");
  CHECK(MakeToken(Role::kWorker, "node7")->token != made.token);
  CHECK_FALSE(MakeToken(Role::kViewer, "").ok());
  CHECK_FALSE(MakeToken(Role::kViewer, "two words").ok());
  CHECK_FALSE(MakeToken(Role::kViewer, std::string(101, 'a')).ok());
}

TEST_CASE("each role may call what is its own", "[unit]") {
  const auto may = [](Role role, const char* path) { return CheckRole({role, "x"}, path).ok(); };
  CHECK(may(Role::kOperator, kSubmit));
  CHECK(may(Role::kOperator, kListAll));
  CHECK_FALSE(may(Role::kOperator, kSessionCall));
  CHECK_FALSE(may(Role::kOperator, kShare));
  CHECK_FALSE(may(Role::kOperator, kRepairCall));
  CHECK_FALSE(may(Role::kOperator, "/warpsmith.v1.GatewayService/Converse"));
  CHECK(may(Role::kGateway, "/warpsmith.v1.GatewayService/Converse"));
  CHECK(may(Role::kOperator, "/warpsmith.v1.GatewayService/CheckModels"));
  CHECK(may(Role::kOperator, "/warpsmith.v1.SomethingNew/PauseAll"));

  CHECK(may(Role::kViewer, kListAll));
  for (const char* method : {"GetTree", "WatchSearch", "Explain", "ExportKernels"}) {
    CHECK(may(Role::kViewer, ("/warpsmith.v1.OperatorService/" + std::string(method)).c_str()));
  }
  CHECK_FALSE(may(Role::kViewer, kSubmit));
  CHECK_FALSE(may(Role::kViewer, "/warpsmith.v1.SomethingNew/PauseAll"));
  CHECK_FALSE(may(Role::kViewer, "/warpsmith.v1.WorkerService/GetBlob"));

  CHECK(may(Role::kWorker, kSessionCall));
  CHECK(may(Role::kWorker, "/warpsmith.v1.WorkerService/PutBlob"));
  CHECK_FALSE(may(Role::kWorker, kListAll));
  CHECK_FALSE(may(Role::kWorker, kSubmit));
  CHECK_FALSE(may(Role::kWorker, kShare));

  CHECK(may(Role::kGateway, kShare));
  CHECK(may(Role::kGateway, kRepairCall));
  CHECK_FALSE(may(Role::kGateway, kSubmit));
  CHECK_FALSE(may(Role::kGateway, kListAll));
  CHECK_FALSE(may(Role::kGateway, kSessionCall));

  CHECK_FALSE(may(Role::kOperator, "/warpsmith.v1.WorkerService"));
  CHECK_FALSE(may(Role::kViewer, ""));
  const std::string refusal = Message(CheckRole({Role::kViewer, "vera"}, kSubmit));
  CHECK_THAT(refusal, Catch::Contains("SubmitSearch") && Catch::Contains("operator") && Catch::Contains("vera"));
  CHECK(IsOpenToAll("/grpc.health.v1.Health/Check"));
  CHECK_FALSE(IsOpenToAll("/grpc.health.v1.HealthX/Check"));
}

TEST_CASE("a worker's id is its token's name, or one of its GPUs", "[unit]") {
  CHECK(WorkerIdFits("node7", "node7"));
  CHECK(WorkerIdFits("node7-0", "node7"));
  CHECK(WorkerIdFits("node7-15", "node7"));
  CHECK_FALSE(WorkerIdFits("node70", "node7"));
  CHECK_FALSE(WorkerIdFits("node7-", "node7"));
  CHECK_FALSE(WorkerIdFits("node7-a", "node7"));
  CHECK_FALSE(WorkerIdFits("node7-12345", "node7"));
  CHECK_FALSE(WorkerIdFits("node8", "node7"));
  CHECK_FALSE(WorkerIdFits("", "node7"));
}

TEST_CASE("a tokens file is read to the letter, and an error names its line", "[unit]") {
  const TokensFile file;
  CHECK_THAT(file.Refusal(), Catch::Contains(file.path) && Catch::Contains("warpsmith token new"));
  const NewToken alice = MakeToken(Role::kOperator, "alice").value();
  const NewToken node = MakeToken(Role::kWorker, "node7").value();
  file.Write("# who may call\n\n" + alice.line + "\n  " + node.line + "  # rack 3\n");
  auto access = AccessControl::Open(file.path).value();
  CHECK(access->Find(alice.token)->name == "alice");
  CHECK(access->Find(node.token)->role == Role::kWorker);
  CHECK_FALSE(access->Find(alice.token + "0").has_value());
  CHECK_FALSE(access->Find("").has_value());
  CHECK_FALSE(access->Find(Sha256Hex(alice.token)).has_value());  // the line is not the token

  CHECK(access->Check("Bearer " + alice.token, kSubmit).ok());
  CHECK(access->Check("", kSubmit).status().code() == absl::StatusCode::kUnauthenticated);
  CHECK(access->Check(alice.token, kSubmit).status().code() == absl::StatusCode::kUnauthenticated);
  CHECK(access->Check("Bearer nonsense", kSubmit).status().code() == absl::StatusCode::kUnauthenticated);
  CHECK(access->Check("Bearer " + node.token, kSubmit).status().code() == absl::StatusCode::kPermissionDenied);

  file.Write("boss " + Sha256Hex("x") + " alice\n");
  CHECK_THAT(file.Refusal(), Catch::Contains("line 1") && Catch::Contains("viewer, operator, worker, gateway"));
  file.Write(alice.line + "\noperator " + alice.token + " bob\n");
  CHECK_THAT(file.Refusal(), Catch::Contains("line 2") && !Catch::Contains(alice.token));
  file.Write(alice.line + "\nviewer " + Sha256Hex(alice.token) + " bob\n");
  CHECK_THAT(file.Refusal(), Catch::Contains("line 2") && Catch::Contains("twice"));
  file.Write(alice.line + " and more\n");
  CHECK_THAT(file.Refusal(), Catch::Contains("line 1"));
  file.Write("worker " + Sha256Hex("a") + " node7\nworker " + Sha256Hex("b") + " node7-1\n");
  CHECK_THAT(file.Refusal(), Catch::Contains("line 2") && Catch::Contains("another name"));
  file.Write("# nobody\n");
  CHECK_THAT(file.Refusal(), Catch::Contains("no token"));
  file.Write(alice.line + "\n", 0662);
  CHECK_THAT(file.Refusal(), Catch::Contains("chmod"));
}

TEST_CASE("a changed tokens file is taken without a restart; a broken one is not", "[unit]") {
  const TokensFile file;
  const NewToken alice = MakeToken(Role::kOperator, "alice").value();
  const NewToken bob = MakeToken(Role::kOperator, "bob").value();
  file.Write(alice.line + "\n");
  auto access = AccessControl::Open(file.path, std::chrono::milliseconds(10)).value();
  const int64_t first = access->generation();
  const auto eventually = [](const std::function<bool()>& holds) {
    for (int i = 0; i < 2000 && !holds(); ++i) RealClock().SleepFor(std::chrono::milliseconds(5));
    return holds();
  };
  file.Write(bob.line + "\n");
  CHECK(eventually([&] { return access->Find(bob.token).has_value(); }));
  CHECK_FALSE(access->Find(alice.token).has_value());
  CHECK(access->generation() > first);
  file.Write("what is this\n");
  RealClock().SleepFor(std::chrono::milliseconds(50));
  CHECK(access->Find(bob.token).has_value());
  file.Write(bob.line + "\n" + alice.line + "\n");
  CHECK(eventually([&] { return access->Find(alice.token).has_value(); }));
}

TEST_CASE("a client's token comes from a file that is its owner's", "[unit]") {
  const TokensFile file;
  const std::string token = MakeToken(Role::kOperator, "alice")->token;
  const auto refusal = [&] {
    TokenFile tokens(file.path);
    auto read = tokens.Token();
    return read.ok() ? "" : Message(read.status());
  };
  CHECK_THAT(refusal(), Catch::Contains(file.path));
  file.Write(token + "\n", 0644);
  CHECK_THAT(refusal(), Catch::Contains("chmod 600"));
  file.Write("secret-of-another-kind\n", 0600);
  CHECK_THAT(refusal(), Catch::Contains("must hold one token") && !Catch::Contains("secret-of"));
  file.Write(token + "\r\n" + token, 0600);
  CHECK_THAT(refusal(), Catch::Contains("must hold one token") && !Catch::Contains(token));
  file.Write(token + "\n", 0600);
  TokenFile tokens(file.path);
  CHECK(tokens.Token().value() == token);
  const std::string next = MakeToken(Role::kOperator, "alice")->token;
  file.Write(next, 0600);
  CHECK(tokens.Token().value() == next);
}

}  // namespace
}  // namespace warpsmith
