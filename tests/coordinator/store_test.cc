// Migrations, the SQL library, blobs, errors and leadership against a real PostgreSQL.
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "common/hash.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/leadership.h"
#include "coordinator/store/text.h"
#include "tests/coordinator/database_fixture.h"

namespace warpsmith {
namespace {

using testing::DatabaseFixture;
using testing::PostgresServer;

store::SqlLibrary LibraryOf(const std::string& text) {
  auto folder = TemporaryDirectory::Create("warpsmith-sql-").value();
  REQUIRE(WriteFileAtomically(folder.path() / "a.sql", text).ok());
  return store::SqlLibrary::Load(folder.path()).value();
}

TEST_CASE("migrations run once, also when repeated and when several start at once", "[pg]") {
  const std::string conninfo = PostgresServer::Shared().CreateDatabase();
  const auto migrations = store::LoadShippedMigrations().value();
  std::vector<std::future<absl::StatusOr<int>>> runs;
  for (int i = 0; i < 4; ++i) {
    runs.push_back(std::async(std::launch::async, [&] { return store::Migrate(conninfo, migrations); }));
  }
  for (auto& run : runs) {
    auto version = run.get();
    INFO(Message(version.status()));
    REQUIRE(version.ok());
    CHECK(*version == static_cast<int>(migrations.size()));
  }
  CHECK(store::Migrate(conninfo, migrations).value() == static_cast<int>(migrations.size()));
  CHECK(PostgresServer::Shared().Query(conninfo, "SELECT count(*) FROM schema_migration") ==
        std::to_string(migrations.size()));
}

TEST_CASE("a newer schema and a changed migration are refused with the remedy", "[pg]") {
  DatabaseFixture fixture;
  const auto migrations = store::LoadShippedMigrations().value();
  SECTION("newer") {
    fixture.Query("INSERT INTO schema_migration (version, name, sha256) VALUES (99, '0099_future', '')");
    auto version = store::Migrate(fixture.conninfo, migrations);
    REQUIRE(absl::IsFailedPrecondition(version.status()));
    CHECK_THAT(Message(version.status()), Catch::Contains("0099_future") && Catch::Contains("Run the newer warpsmith"));
  }
  SECTION("changed") {
    auto changed = migrations;
    changed[0].sql += "-- changed";
    auto version = store::Migrate(fixture.conninfo, changed);
    REQUIRE(absl::IsFailedPrecondition(version.status()));
    CHECK_THAT(Message(version.status()), Catch::Contains(changed[0].name));
  }
  SECTION("one that fails leaves nothing behind") {
    auto more = migrations;
    more.push_back({static_cast<int>(more.size()) + 1, "0099_broken", "CREATE TABLE half (a int); SELECT 1/0"});
    CHECK(!store::Migrate(fixture.conninfo, more).ok());
    CHECK(fixture.Query("SELECT count(*) FROM pg_class WHERE relname = 'half'") == "0");
    CHECK(store::Migrate(fixture.conninfo, migrations).ok());
  }
}

TEST_CASE("every shipped statement is understood by the shipped schema", "[pg]") {
  DatabaseFixture fixture;
  const auto library = store::SqlLibrary::LoadShipped().value();
  REQUIRE(library.statements().size() > 50);
  std::string all;
  for (const auto& [name, sql] : library.statements()) {
    // Only the protocol can prepare a transaction's settings, not this command.
    if (sql.rfind("SET TRANSACTION ", 0) != 0) all += "PREPARE " + name + " AS " + sql + ";\n";
  }
  CHECK(fixture.Query(all).empty());
}

TEST_CASE("the SQL library refuses a name twice and an empty folder", "[unit]") {
  CHECK(LibraryOf("-- name: a\nSELECT 1\n-- a comment\n-- name: b\nSELECT\n  2\n").statements().size() == 2);
  auto folder = TemporaryDirectory::Create("warpsmith-sql-").value();
  CHECK(absl::IsNotFound(store::SqlLibrary::Load(folder.path()).status()));
  REQUIRE(WriteFileAtomically(folder.path() / "a.sql", "-- name: a\nSELECT 1\n-- name: a\nSELECT 2\n").ok());
  CHECK_THAT(Message(store::SqlLibrary::Load(folder.path()).status()), Catch::Contains("a.sql"));
}

TEST_CASE("values go to the database and back unchanged", "[pg]") {
  const std::string conninfo = PostgresServer::Shared().CreateDatabase();
  store::PostgresDatabase database(
      conninfo,
      LibraryOf("-- name: echo\nSELECT $1::text AS t, $2::bigint AS i, $3::double precision AS d, $4::boolean AS b, "
                "$5::bytea AS y, $6::integer[] AS a, $7::text[] AS s, $8::text AS n\n"),
      1, RealClock());
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  absl::Status status = database.Read([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                               transaction.Execute("echo", {"it's \"ü\" \\ {,}", int64_t{-5'000'000'000}, 0.1, true,
                                                            store::Bytes{bytes}, std::vector<int>{3, -1, 2},
                                                            std::vector<std::string>{"a,b", "c\"d\\"}, std::nullopt}));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].Text("t") == "it's \"ü\" \\ {,}");
    CHECK(rows[0].Int("i") == -5'000'000'000);
    CHECK(rows[0].Double("d") == 0.1);
    CHECK(rows[0].Bool("b"));
    CHECK(rows[0].Blob("y") == bytes);
    CHECK(rows[0].Ints("a") == std::vector<int>{3, -1, 2});
    CHECK(rows[0].Text("s") == "{\"a,b\",\"c\\\"d\\\\\"}");
    CHECK(rows[0].Null("n"));
    CHECK(absl::IsInternal(transaction.Execute("no_such", {}).status()));
    return absl::OkStatus();
  });
  INFO(Message(status));
  CHECK(status.ok());
}

TEST_CASE("database errors become statuses with a remedy", "[pg]") {
  const std::string conninfo = PostgresServer::Shared().CreateDatabase();
  store::PostgresDatabase database(
      conninfo,
      LibraryOf("-- name: raise\nSELECT pg_temp.raise($1)\n-- name: define\nCREATE FUNCTION pg_temp.raise(code text) "
                "RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = code; END $$\n"),
      1, RealClock());
  REQUIRE(
      database.Write([](store::Transaction& transaction) { return transaction.Execute("define", {}).status(); }).ok());
  const auto raise = [&](const char* code) {
    return database.Write(
        [&](store::Transaction& transaction) { return transaction.Execute("raise", {code}).status(); });
  };
  CHECK(absl::IsResourceExhausted(raise("53100")));
  CHECK_THAT(Message(raise("53100")), Catch::Contains("disk is full") && Catch::Contains("Free space"));
  CHECK(absl::IsUnavailable(raise("53300")));
  CHECK(absl::IsFailedPrecondition(raise("WS001")));
  CHECK(absl::IsFailedPrecondition(raise("42501")));
  CHECK(absl::IsAlreadyExists(raise("23505")));
  CHECK(absl::IsAborted(raise("40P01")));
  CHECK(absl::IsAborted(raise("40001")));
  CHECK(absl::IsUnavailable(raise("57P01")));
  CHECK(absl::IsDeadlineExceeded(raise("57014")));
  CHECK(absl::IsInternal(raise("22012")));
}

TEST_CASE("an unreachable database is Unavailable, says the remedy and hides the password", "[pg]") {
  store::PostgresDatabase database("host=/nonexistent user=x password=hunter2 dbname=y",
                                   LibraryOf("-- name: one\nSELECT 1\n"), 1, RealClock());
  absl::Status status =
      database.Read([](store::Transaction& transaction) { return transaction.Execute("one", {}).status(); });
  CHECK(absl::IsUnavailable(status));
  CHECK_THAT(Message(status), Catch::Contains("--database") && !Catch::Contains("hunter2"));
}

TEST_CASE("the pool outlives lost connections and a restarted server", "[pg]") {
  DatabaseFixture fixture;
  const auto read = [&] {
    return fixture.database.Read(
        [](store::Transaction& transaction) { return transaction.Execute("term_read", {}).status(); });
  };
  REQUIRE(read().ok());
  PostgresServer::Shared().TerminateConnections(fixture.conninfo);
  CHECK(read().ok());
  PostgresServer::Shared().Crash();
  CHECK(absl::IsUnavailable(read()));
  PostgresServer::Shared().Resume();
  const TimePoint until = RealClock().Now() + std::chrono::seconds(10);
  while (!read().ok() && RealClock().Now() < until) RealClock().SleepFor(std::chrono::milliseconds(20));
  CHECK(read().ok());
}

TEST_CASE("blobs are addressed by content and verified", "[pg]") {
  DatabaseFixture fixture;
  const std::string data("a\0b\xff", 4);
  const std::string hash =
      fixture.Run<std::string>([&](store::Transaction& transaction) { return store::PutBlob(transaction, data, 100); });
  CHECK(hash == Sha256Hex(data));
  for (int i = 0; i < 2; ++i) {
    CHECK(fixture.Run<std::string>([&](auto& transaction) { return store::PutBlob(transaction, data, 100, hash); }) ==
          hash);
  }
  CHECK(fixture.Run<std::string>([&](auto& transaction) { return store::GetBlob(transaction, hash); }) == data);
  const auto put = [&](const std::string& content, size_t most, const std::string& expected) {
    return fixture.database.Write(
        [&](store::Transaction& transaction) { return store::PutBlob(transaction, content, most, expected).status(); });
  };
  CHECK(absl::IsInvalidArgument(put("other", 100, hash)));
  CHECK(absl::IsInvalidArgument(put(std::string(101, 'x'), 100, "")));
  fixture.Query("UPDATE blob SET data = '\\x00' WHERE sha256 = '" + hash + "'");
  CHECK(absl::IsInternal(fixture.database.Read(
      [&](store::Transaction& transaction) { return store::GetBlob(transaction, hash).status(); })));
}

TEST_CASE("there is one leader, and an old term cannot write", "[pg]") {
  DatabaseFixture fixture;
  auto first = store::Leadership::Acquire(fixture.conninfo, "the first", Duration::zero()).value();
  const int64_t term = first->BeginTerm([](const std::string&) {}).value();
  fixture.database.SetTerm(term);
  const auto write = [&] {
    return fixture.database.Write(
        [](store::Transaction& transaction) { return transaction.Execute("worker_disconnect_all", {}).status(); });
  };
  CHECK(write().ok());

  auto second = store::Leadership::Acquire(fixture.conninfo, "the second", std::chrono::milliseconds(120));
  REQUIRE(absl::IsFailedPrecondition(second.status()));
  CHECK_THAT(Message(second.status()), Catch::Contains("the first") && Catch::Contains("Stop it first"));

  first.reset();
  auto third = store::Leadership::Acquire(fixture.conninfo, "the third", std::chrono::seconds(5)).value();
  CHECK(third->BeginTerm([](const std::string&) {}).value() == term + 1);
  absl::Status refused = write();
  CHECK(absl::IsFailedPrecondition(refused));
  CHECK_THAT(Message(refused), Catch::Contains("the third"));
}

TEST_CASE("a leader that lost its connection takes the lock again, and ends where another leads", "[pg]") {
  DatabaseFixture fixture;
  std::promise<std::string> lost;
  auto leader = store::Leadership::Acquire(fixture.conninfo, "the first", Duration::zero()).value();
  REQUIRE(leader->BeginTerm([&](const std::string& why) { lost.set_value(why); }).ok());
  const std::string holders =
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7710452 AND objid = 1 AND granted AND "
      "database = (SELECT oid FROM pg_database WHERE datname = current_database())";
  REQUIRE(fixture.Query(holders) == "1");
  PostgresServer::Shared().TerminateConnections(fixture.conninfo);
  const TimePoint until = RealClock().Now() + std::chrono::seconds(10);
  while (fixture.Query(holders) != "1" && RealClock().Now() < until) {
    RealClock().SleepFor(std::chrono::milliseconds(50));
  }
  CHECK(fixture.Query(holders) == "1");

  // Another one was elected while this one was cut off.
  fixture.Query("UPDATE leader SET term = term + 1, holder = 'the second'");
  PostgresServer::Shared().TerminateConnections(fixture.conninfo);
  auto why = lost.get_future();
  REQUIRE(why.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
  CHECK_THAT(why.get(), Catch::Contains("the second"));
}

TEST_CASE("text from outside is made fit for the database", "[unit]") {
  CHECK(store::CleanText(std::string("a\0b\xff\xc3\xa9", 6)) == "ab\xc3\xa9");
  CHECK(store::CleanText("\xc3\xa9\xc3\xa9", 3) == "\xc3\xa9");
  CHECK(store::CleanText("\xed\xa0\x80\xf5\x80\x80\x80\xc0\x80x") == "x");
  CHECK(store::CleanLine("a\nb\tc") == "a b c");
  CHECK(store::NewId().size() == 26);
  CHECK(store::NewId() != store::NewId());
}

TEST_CASE("layout and comments do not make another kernel, but code and plan do", "[unit]") {
  const std::string base = "/* warpsmith-plan {\"version\": 1} */\n#define N 4\nint f(int a) { return a + N; }\n";
  const auto same = [&](const std::string& other) {
    return store::NormalizeSource(other) == store::NormalizeSource(base);
  };
  CHECK(same(
      "/* warpsmith-plan {\"version\": 1} */\n#define N 4\n// a remark\nint   f( int a )\n{\n  return a+N; /* b */ }"));
  CHECK(!same("/* warpsmith-plan {\"version\": 2} */\n#define N 4\nint f(int a) { return a + N; }\n"));
  CHECK(!same("/* warpsmith-plan {\"version\": 1} */\n#define N 5\nint f(int a) { return a + N; }\n"));
  CHECK(!same("/* warpsmith-plan {\"version\": 1} */\n#define N 4\nint f(int a) { return a - N; }\n"));
  CHECK(store::NormalizeSource("a + +b;") != store::NormalizeSource("a ++ b;"));
  CHECK(store::NormalizeSource("x = \"a  b\";") != store::NormalizeSource("x = \"a b\";"));
  CHECK(store::NormalizeSource("int ab;") != store::NormalizeSource("int a b;"));
  CHECK(store::NormalizeSource("\"") == store::NormalizeSource("\""));
}

}  // namespace
}  // namespace warpsmith
