// `warpsmith token new`, `warpsmith audit`, and the flags of a secured connection.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

#include "cli/audit_command.h"
#include "cli/exit_code.h"
#include "common/access.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/hash.h"
#include "common/json.h"
#include "tests/cli/printed.h"
#include "warpsmith/v1/audit.grpc.pb.h"

namespace warpsmith::cli {
namespace {

using Catch::Contains;

class FakeAudit final : public v1::AuditService::Service {
 public:
  grpc::Status ListAudit(grpc::ServerContext*, const v1::ListAuditRequest* request,
                         v1::ListAuditReply* reply) override {
    asked = *request;
    v1::AuditEntry* entry = reply->add_entries();
    entry->set_actor("alice");
    entry->set_role("operator");
    entry->set_action("OperatorService/CancelSearch");
    entry->set_search_id("3f2a91c0aaaaaaaaaaaaaaaaaa");
    entry->set_detail("search_id=3f2a91 \x1b[31m");
    return grpc::Status::OK;
  }
  v1::ListAuditRequest asked;
};

TEST_CASE("token new prints a token once, and a line that knows it", "[unit]") {
  const Printed printed = RunIt({"token", "new", "--role", "operator", "--name", "alice"});
  REQUIRE(printed.code == kExitOk);
  std::istringstream lines(printed.out);
  std::string token, line;
  std::getline(lines, token);
  std::getline(lines, line);
  CHECK(line == "operator " + Sha256Hex(token) + " alice");
  CHECK_THAT(printed.err, Contains("once") && !Contains(token));
  CHECK(RunIt({"token", "new", "--role", "king", "--name", "alice"}).code == kExitUsage);
  CHECK(RunIt({"token", "new", "--role", "viewer", "--name", "two words"}).code == kExitUsage);
  CHECK(RunIt({"token", "new", "--role", "viewer"}).code == kExitUsage);
}

TEST_CASE("token new puts the token where only its owner reads it, and its line where servers do", "[unit]") {
  auto folder = TemporaryDirectory::Create("cli-token").value();
  const std::string file = (folder.path() / "node7.token").string();
  const std::string tokens = (folder.path() / "tokens").string();
  const std::vector<std::string> command = {"token", "new",      "--role", "worker",   "--name",
                                            "node7", "--output", file,     "--tokens", tokens};
  const Printed printed = RunIt(command);
  REQUIRE(printed.code == kExitOk);
  const std::string token = ReadFile(file).value();
  CHECK(printed.out.empty());
  CHECK_THAT(printed.err, !Contains(token.substr(0, token.size() - 1)));
  struct stat information {};
  REQUIRE(stat(file.c_str(), &information) == 0);
  CHECK((information.st_mode & 0777) == 0600);
  CHECK(TokenFile(file).Token().ok());
  auto access = AccessControl::Open(tokens).value();
  CHECK(access->Find(TokenFile(file).Token().value())->name == "node7");
  // A second one would take the first one's place.
  const Printed again = RunIt(command);
  CHECK(again.code == kExitFailed);
  CHECK_THAT(again.err, Contains(file) && Contains("another name"));
  CHECK(ReadFile(file).value() == token);
  const Printed json = RunIt({"token", "new", "--role", "viewer", "--name", "vera", "--json"});
  CHECK(Json::parse(json.out).at("line").get<std::string>().rfind("viewer ", 0) == 0);
}

TEST_CASE("audit asks with its filter and prints who did what, safely", "[grpc]") {
  auto folder = TemporaryDirectory::Create("cli-audit").value();
  const std::string address = "unix:" + (folder.path() / "c.sock").string();
  FakeAudit service;
  auto server = StartServer(address, {&service}).value();
  const Printed printed = RunIt({"audit", "--search", "3f2a91", "--limit", "7", "--coordinator", address});
  CHECK(printed.code == kExitOk);
  CHECK(service.asked.search_id() == "3f2a91");
  CHECK(service.asked.limit() == 7);
  CHECK_THAT(printed.out, Contains("alice") && Contains("CancelSearch") && Contains("3f2a91c0") && !Contains("\x1b"));
  const Printed json = RunIt({"audit", "--json", "--coordinator", address});
  CHECK(Json::parse(json.out).at("entries").at(0).at("actor") == "alice");
  CHECK(AuditText(v1::ListAuditReply()) == "nothing was done yet\n");
  StopServer(*server.server, 0);
}

TEST_CASE("a secured connection's files are flags of every command that connects", "[unit]") {
  const Printed printed = RunIt({"status", "--coordinator", "node1.example:7700"});
  CHECK_THAT(printed.err, Contains("--tls-ca"));
  const Printed missing = RunIt({"list", "--coordinator", "node1.example:7700", "--tls-ca", "/nowhere/ca.pem"});
  CHECK_THAT(missing.err, Contains("/nowhere/ca.pem"));
  setenv("WARPSMITH_TLS_CA", "/elsewhere/ca.pem", 1);
  const Printed variable = RunIt({"audit", "--coordinator", "node1.example:7700"});
  CHECK_THAT(variable.err, Contains("/elsewhere/ca.pem"));
  unsetenv("WARPSMITH_TLS_CA");
  const Printed token = RunIt({"list", "--coordinator", "127.0.0.1:1", "--token-file", "/nowhere/token"});
  CHECK_THAT(token.err, Contains("/nowhere/token"));
  CHECK_THAT(RunIt({"watch", "--help"}).out, Contains("--token-file") && Contains("WARPSMITH_TOKEN_FILE"));
}

}  // namespace
}  // namespace warpsmith::cli
