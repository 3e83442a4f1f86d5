#include "cli/embedded/postgres.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "cli/embedded/process_record.h"
#include "common/file.h"
#include "common/run_child.h"
#include "tests/cli/process_scan.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

bool Never() { return false; }

class PostgresFixture {
 public:
  PostgresFixture() : folder(*TemporaryDirectory::Create("postgres-test")), directory(folder.path() / "data") {
    // As a folder that others may enter.
    fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_exec);
    REQUIRE(directory.Prepare().ok());
  }
  std::unique_ptr<Postgres> Start() {
    auto postgres = Postgres::Start(directory, /*stays=*/false, Never);
    INFO(Message(postgres.status()));
    REQUIRE(postgres.ok());
    return std::move(postgres).value();
  }
  std::string Sql(const Postgres& postgres, const std::string& text) {
    ChildOptions options;
    options.arguments = {(*FindPostgres() / "psql").string(), postgres.connection(), "-XAtc", text};
    auto exit = RunChild(options, "", std::chrono::seconds(20));
    REQUIRE(exit.ok());
    INFO(exit->standard_error);
    CHECK(exit->exit_code == 0);
    return exit->standard_output;
  }

  TemporaryDirectory folder;
  DataDirectory directory;
};

}  // namespace

TEST_CASE("a private database: made, used, stopped, found again, nothing left", "[pg]") {
  PostgresFixture fixture;
  {
    auto postgres = fixture.Start();
    CHECK(fixture.Sql(*postgres, "create table t(x int); insert into t values (7); select x from t") ==
          "CREATE TABLE\nINSERT 0 1\n7\n");
    CHECK(fixture.Sql(*postgres, "show listen_addresses") == "\n");
    struct stat process {};
    REQUIRE(stat(fmt::format("/proc/{}", postgres->daemon().pid()).c_str(), &process) == 0);
    CHECK(process.st_uid != 0);
    CHECK(ReadRecords(fixture.directory.run_folder()).size() == 1);
    CHECK(!ProcessesOf(fixture.folder.path()).empty());
  }
  CHECK(ProcessesOf(fixture.folder.path()).empty());
  CHECK(ReadRecords(fixture.directory.run_folder()).empty());
  CHECK(fixture.Sql(*fixture.Start(), "select x from t") == "7\n");
}

TEST_CASE("a database that was killed comes back with what it had", "[pg]") {
  PostgresFixture fixture;
  auto postgres = fixture.Start();
  fixture.Sql(*postgres, "create table t(x int); insert into t values (7)");
  kill(postgres->daemon().pid(), SIGKILL);
  postgres.reset();
  CHECK(fs::exists(fixture.directory.database() / "files/postmaster.pid"));  // stale
  postgres = fixture.Start();
  CHECK(fixture.Sql(*postgres, "select x from t") == "7\n");
}

TEST_CASE("a stale postmaster.pid that names another process is put away, and that process left alone", "[pg]") {
  PostgresFixture fixture;
  fixture.Start().reset();
  ChildOptions options;
  options.arguments = {"sleep", "600"};
  auto bystander = *ChildProcess::Start(options);
  const fs::path files = fixture.directory.database() / "files";
  REQUIRE(
      WriteFileAtomically(files / "postmaster.pid", fmt::format("{}\n{}\n", bystander->pid(), files.string())).ok());
  const fs::path lock = fixture.directory.socket_folder() / "database/.s.PGSQL.5432.lock";
  REQUIRE(WriteFileAtomically(lock, fmt::format("{}\n{}\n", bystander->pid(), files.string())).ok());
  auto postgres = fixture.Start();
  CHECK(fixture.Sql(*postgres, "select 1") == "1\n");
  CHECK(bystander->Running());
}

TEST_CASE("a database of an earlier run that still goes is stopped first", "[pg]") {
  PostgresFixture fixture;
  auto earlier = fixture.Start();
  const pid_t before = earlier->daemon().pid();
  auto postgres = fixture.Start();
  CHECK(postgres->daemon().pid() != before);
  CHECK_FALSE(earlier->daemon().Running());
  CHECK(fixture.Sql(*postgres, "select 1") == "1\n");
}

TEST_CASE("an initdb that was cut off is begun anew", "[pg]") {
  PostgresFixture fixture;
  REQUIRE(MakeOwnFolder(fixture.directory.database(), *ChooseServiceUser()).ok());
  fs::create_directories(fixture.directory.database() / "new/base");
  CHECK(fixture.Sql(*fixture.Start(), "select 1") == "1\n");
}

TEST_CASE("missing programs are named with the remedy", "[unit]") {
  CHECK_THAT(Message(FindPostgres("99").status()), Catch::Contains("postgresql-99"));
  setenv("WARPSMITH_POSTGRES_BIN", "/nowhere", 1);
  CHECK_THAT(Message(FindPostgres().status()),
             Catch::Contains("WARPSMITH_POSTGRES_BIN") && Catch::Contains("/nowhere"));
  unsetenv("WARPSMITH_POSTGRES_BIN");
}

}  // namespace warpsmith::cli
