// What retention removes and what it must leave, the disk alarm, and what readers may see, against a real PostgreSQL.
#include "coordinator/operations/retention.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "common/hash.h"
#include "coordinator/operations/disk_alarm.h"
#include "coordinator/store/blob_store.h"
#include "tests/coordinator/database_fixture.h"

namespace warpsmith::operations {
namespace {

using testing::DatabaseFixture;
using testing::PostgresServer;

std::string Hex(const std::string& bytes) { return store::Parameter(store::Bytes{bytes}).text(); }

v1::Evaluation FullEvaluation() {
  v1::Evaluation evaluation;
  evaluation.set_outcome(v1::OUTCOME_OK);
  evaluation.mutable_timing()->set_median_ms(1.5);
  evaluation.mutable_timing()->add_sample_ms(1.4);
  evaluation.mutable_timing()->add_sample_ms(1.6);
  evaluation.mutable_profile()->set_summary("bound by DRAM");
  evaluation.mutable_profile()->set_bound_by("dram_bandwidth");
  evaluation.mutable_profile()->add_steps()->set_kernel("k");
  return evaluation;
}

struct RetentionFixture : DatabaseFixture {
  RetentionFixture() {
    problem_blob = Blob("class Model: pass", 0);
    Query(
        fmt::format("INSERT INTO problem (id, name, source_sha256, intake_settings) VALUES ('p', 'softmax', '{}', '')",
                    problem_blob));
  }

  std::string Blob(const std::string& text, int days_ago) {
    const std::string hash =
        Run<std::string>([&](store::Transaction& transaction) { return store::PutBlob(transaction, text, 1000); });
    Query(fmt::format("UPDATE blob SET used_at = now() - interval '{} days' WHERE sha256 = '{}'", days_ago, hash));
    return hash;
  }

  // A search with a task, a call, an event; `days_ago` < 0: it has not ended.
  void Search(const std::string& id, const std::string& state, int days_ago) {
    Query(fmt::format(
        "INSERT INTO search (id, name, problem_id, state, settings, strategy, seed, submitted_at, finished_at) "
        "VALUES ('{0}', 'softmax', 'p', '{1}', '', 'branching', 1, now() - interval '1000 days', {2});"
        "INSERT INTO task (kind, dedupe_key, search_id, state, deadline_seconds) VALUES "
        "('evaluate', '{0}/1', '{0}', 'done', 1), ('evaluate', '{0}/2', '{0}', 'cancelled', 1), "
        "('evaluate', '{0}/3', '{0}', 'quarantined', 1);"
        "INSERT INTO llm_call (idempotency_key, position, search_id, task_id, kind, round, provider, model, "
        "prompt_version, prompt_sha256, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, "
        "usd, first_byte_seconds, seconds, tries, finish_reason, error, raw_reply) VALUES ('{0}', 0, '{0}', "
        "1, 'propose', 1, 'p', 'm', 'v', '', 10, 0, 20, 0, 0.5, 1, 1, 1, 'stop', '', 'a long reply');"
        "INSERT INTO event (search_id, line) VALUES ('{0}', 'one'), ('{0}', 'two'), ('{0}', 'three')",
        id, state, days_ago < 0 ? "NULL" : fmt::format("now() - interval '{} days'", days_ago)));
  }

  void Candidate(const std::string& id, const std::string& search_id, const std::string& duplicate_of = "") {
    const std::string source = Blob("source of " + id, 400);
    Query(fmt::format(
        "INSERT INTO candidate (id, search_id, round, state, outcome, median_ms, source_sha256, duplicate_of, reused) "
        "VALUES "
        "('{0}', '{1}', 1, 'done', 14, 1.5, '{2}', nullif('{3}', ''), '{3}' <> '');"
        "INSERT INTO evaluation (task_id, epoch, search_id, candidate_id, stage, outcome, reason, median_ms, spread, "
        "ratio_to_eager, device_name, emulated, worker_id, gpu_seconds, seconds, body) VALUES ((SELECT count(*) FROM "
        "evaluation), 1, '{1}', '{0}', 'measure', 14, '', 1.5, 0, 1, 'd', true, 'w', 1, 1, '{4}')",
        id, search_id, source, duplicate_of, Hex(FullEvaluation().SerializeAsString())));
  }

  v1::Evaluation Body(const std::string& candidate_id) {
    v1::Evaluation evaluation;
    const std::string hex =
        Query("SELECT encode(body, 'hex') FROM evaluation WHERE candidate_id = '" + candidate_id + "'");
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    REQUIRE(evaluation.ParseFromString(bytes));
    return evaluation;
  }

  void RunToTheEnd(Retention& retention) {
    for (int step = 0; step < 200; ++step) {
      auto more = retention.Step();
      INFO(Message(more.status()));
      REQUIRE(more.ok());
      if (!*more) return;
    }
    FAIL("retention does not come to an end");
  }

  std::string problem_blob;
};

TEST_CASE("what a finished search left is thinned out in small steps; the rest stays", "[pg]") {
  RetentionFixture fixture;
  fixture.Search("old", "done", 400);
  fixture.Search("young", "failed", 3);
  fixture.Search("running", "running", -1);
  for (const char* id : {"best", "banked", "shared", "plain1", "plain2", "plain3"}) fixture.Candidate(id, "old");
  fixture.Candidate("fresh", "young");
  fixture.Candidate("current", "running");
  fixture.Candidate("reuser", "running", "shared");
  fixture.Query(
      "UPDATE search SET best_candidate_id = 'best' WHERE id = 'old';"
      "INSERT INTO kernel (id, candidate_id, search_id, problem_id, problem_name, operator_family, device_class, "
      "emulated, "
      "median_ms, ratio_to_eager, log_ratio, precision_class, idea_title, source_sha256, champion, state) SELECT 'k', "
      "id, "
      "'old', 'p', 'softmax', 'softmax', 'd', true, 1, 1, 0, 1, '', source_sha256, true, 'trusted' FROM candidate "
      "WHERE id "
      "= 'banked'");
  RetentionSettings settings;
  settings.batch = 2;
  Retention retention(fixture.database, settings);

  REQUIRE(retention.Step().value());
  // One small batch of each, no more.
  CHECK(fixture.Query("SELECT count(*) FROM task WHERE search_id = 'old'") == "1");
  CHECK(fixture.Query("SELECT count(*) FROM event WHERE search_id = 'old'") == "1");
  CHECK(fixture.Query("SELECT count(*) FROM evaluation WHERE trimmed") == "2");
  fixture.RunToTheEnd(retention);

  CHECK(fixture.Query("SELECT search_id, count(*) FROM task GROUP BY 1 ORDER BY 1") == "running|3\nyoung|3");
  CHECK(fixture.Query("SELECT search_id, count(*) FROM event GROUP BY 1 ORDER BY 1") == "running|3\nyoung|3");
  CHECK(fixture.Query("SELECT search_id FROM llm_call WHERE octet_length(raw_reply) > 0 ORDER BY 1") ==
        "running\nyoung");
  CHECK(fixture.Query("SELECT sum(usd), sum(output_tokens) FROM llm_call") == "1.5|60");
  CHECK(fixture.Query("SELECT string_agg(candidate_id, ' ' ORDER BY candidate_id) FROM evaluation WHERE trimmed") ==
        "plain1 plain2 plain3");
  for (const char* whole : {"best", "banked", "shared", "fresh", "current", "reuser"}) {
    INFO(whole);
    CHECK(fixture.Body(whole).SerializeAsString() == FullEvaluation().SerializeAsString());
  }
  const v1::Evaluation trimmed = fixture.Body("plain2");
  CHECK(trimmed.timing().sample_ms().empty());
  CHECK(trimmed.timing().median_ms() == 1.5);
  CHECK(trimmed.profile().steps().empty());
  CHECK(trimmed.profile().summary() == "bound by DRAM");
  CHECK(retention.removed(Kept::kFinishedTasks) == 3);
  CHECK(retention.removed(Kept::kEvaluationBodies) == 3);
  CHECK(retention.removed(Kept::kRawReplies) == 1);
  CHECK(retention.removed(Kept::kEvents) == 3);
  // Nothing is looked at again, unless the search is opened again.
  CHECK(!retention.Step().value());
  fixture.Query("UPDATE search SET state = 'intake', finished_at = NULL WHERE id = 'old'");
  CHECK(
      fixture.Query("SELECT count(*) FROM search WHERE id = 'old' AND tasks_purged_at IS NULL AND bodies_trimmed_at IS "
                    "NULL AND raw_replies_dropped_at IS NULL AND events_dropped_at IS NULL") == "1");
}

TEST_CASE("zero days keep for ever", "[pg]") {
  RetentionFixture fixture;
  fixture.Search("old", "done", 4000);
  fixture.Candidate("plain", "old");
  const std::string loose = fixture.Blob("nobody's", 4000);
  Retention retention(fixture.database, {0, 0, 0, 0, 0, 10});
  CHECK(!retention.Step().value());
  CHECK(fixture.Query(
            "SELECT (SELECT count(*) FROM task), (SELECT count(*) FROM event), (SELECT count(*) FROM evaluation "
            "WHERE trimmed), (SELECT count(*) FROM blob WHERE sha256 = '" +
            loose + "')") == "3|3|0|1");
}

TEST_CASE("blobs that nothing refers to are collected, and only those", "[pg]") {
  RetentionFixture fixture;
  fixture.Search("s", "running", -1);
  fixture.Candidate("c", "s");
  fixture.Query("UPDATE blob SET used_at = now() - interval '400 days'");
  std::vector<std::string> loose;
  for (int i = 0; i < 7; ++i) loose.push_back(fixture.Blob("loose " + std::to_string(i), 400));
  const std::string young = fixture.Blob("young", 3);
  // Put in again: as good as new.
  const std::string again = fixture.Blob("again", 400);
  fixture.Run<std::string>([&](auto& transaction) { return store::PutBlob(transaction, "again", 100); });
  // Held by another table than those that there were when this was written.
  const std::string elsewhere = fixture.Blob("elsewhere", 400);
  fixture.Query("CREATE TABLE later (sha256 text REFERENCES blob); INSERT INTO later VALUES ('" + elsewhere + "')");
  RetentionSettings settings;
  settings.batch = 3;
  Retention retention(fixture.database, settings);
  fixture.RunToTheEnd(retention);
  CHECK(retention.removed(Kept::kBlobs) == 7);
  CHECK(fixture.Query("SELECT count(*) FROM blob") == "5");  // the problem's, the candidate's, and the three
  for (const std::string& kept : {young, again, elsewhere, fixture.problem_blob}) {
    CHECK(fixture.Query("SELECT count(*) FROM blob WHERE sha256 = '" + kept + "'") == "1");
  }
  fixture.Query("DELETE FROM later");
  CHECK(!retention.Step().value());
  retention.LookAtBlobsAgain();
  fixture.RunToTheEnd(retention);
  CHECK(fixture.Query("SELECT count(*) FROM blob WHERE sha256 = '" + elsewhere + "'") == "0");
}

struct AlarmFixture : RetentionFixture {
  explicit AlarmFixture(DiskSettings settings)
      : alarm(
            database, settings,
            [this](const std::string& path) -> absl::StatusOr<int64_t> {
              asked = path;
              if (free < 0) return NotFound("no such folder");
              return free;
            },
            clock, [this](bool held) { changes += held ? 'h' : 'r'; }) {}

  FakeClock clock;
  int64_t free = 100;
  std::string asked;
  std::string changes;
  DiskAlarm alarm;
};

TEST_CASE("a disk that runs full holds new work until there is room to spare", "[pg]") {
  AlarmFixture fixture({1000, 0, ""});
  fixture.Search("s", "running", -1);
  fixture.Search("ended", "done", 1);
  fixture.free = 5000;
  REQUIRE(fixture.alarm.Check().ok());
  CHECK(fixture.alarm.health().free_bytes == 5000);
  CHECK(fixture.asked == fixture.Query("SHOW data_directory"));
  CHECK(fixture.changes.empty());
  fixture.free = 999;
  REQUIRE(fixture.alarm.Check().ok());
  REQUIRE(fixture.alarm.Check().ok());
  CHECK(fixture.alarm.health().held);
  CHECK_THAT(fixture.alarm.health().reason, Catch::Contains("--min-free-gib"));
  fixture.free = 1050;  // not enough to spare
  REQUIRE(fixture.alarm.Check().ok());
  CHECK(fixture.changes == "h");
  fixture.free = 1200;
  REQUIRE(fixture.alarm.Check().ok());
  CHECK(fixture.changes == "hr");
  CHECK(!fixture.alarm.health().held);
  CHECK(fixture.Query(
            "SELECT search_id, split_part(line, ':', 1) FROM event WHERE line LIKE 'held%' OR line LIKE 'going%' "
            "ORDER BY id") == "s|held\ns|going on");
}

TEST_CASE("a folder that cannot be seen raises no alarm; a limit on the database's size does", "[pg]") {
  SECTION("not on this machine") {
    AlarmFixture fixture({1000, 0, "/elsewhere"});
    fixture.free = -1;
    REQUIRE(fixture.alarm.Check().ok());
    CHECK(fixture.asked == "/elsewhere");
    CHECK(!fixture.alarm.health().held);
    CHECK(fixture.alarm.health().free_bytes == -1);
  }
  SECTION("too large") {
    AlarmFixture fixture({0, 1000, ""});
    REQUIRE(fixture.alarm.Check().ok());
    CHECK(fixture.alarm.health().held);
    CHECK(fixture.alarm.health().database_bytes > 1000);
    CHECK_THAT(fixture.alarm.health().reason, Catch::Contains("--max-database-gib"));
  }
  SECTION("the real file system") {
    CHECK(FreeBytesOf("/tmp").value() > 0);
    CHECK(absl::IsNotFound(FreeBytesOf("/no/such/folder").status()));
  }
}

TEST_CASE("readers see the documented views and nothing else", "[pg]") {
  RetentionFixture fixture;
  fixture.Search("s", "running", -1);
  const std::string readable = fixture.Query(
      "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND "
      "relkind IN ('r', 'v') AND has_table_privilege('warpsmith_reader', oid, 'SELECT')");
  const std::string views =
      fixture.Query("SELECT string_agg(viewname, ' ' ORDER BY viewname) FROM pg_views WHERE schemaname = 'public'");
  CHECK(readable == views);
  for (const char* view : {"view_search", "view_round", "view_candidate", "view_idea", "view_model_call", "view_queue",
                           "view_kernel", "view_worker", "view_batch"}) {
    INFO(view);
    CHECK_THAT(views, Catch::Contains(view));
    CHECK(fixture.Query(fmt::format("SELECT count(*) >= 0 FROM {}", view)) == "t");
    CHECK(fixture.Query(
              fmt::format("SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = '{}'::regclass AND "
                          "attnum > 0 AND col_description(attrelid, attnum) IS NULL",
                          view)) == "");
  }
  CHECK(
      fixture.Query("SELECT count(*) FROM information_schema.columns WHERE table_name LIKE 'view\\_%' AND (column_name "
                    "IN ('raw_reply', 'settings', 'source', 'message', 'body') OR data_type = 'bytea')") == "0");

  fixture.Query("SELECT create_reader('grafana')");
  std::string as_reader = fixture.conninfo;
  as_reader.replace(as_reader.find("user=warpsmith"), 14, "user=grafana");
  const auto ask = [&](const std::string& sql) { return PostgresServer::Shared().Query(as_reader, sql); };
  CHECK(ask("SELECT state FROM view_search") == "running");
  CHECK(ask("SHOW statement_timeout") == "15s");
  CHECK(ask("SHOW idle_in_transaction_session_timeout") == "15s");
  CHECK(ask("SHOW transaction_read_only") == "on");
  CHECK(ask("DO $$ BEGIN PERFORM raw_reply FROM llm_call; RAISE EXCEPTION 'readable'; EXCEPTION WHEN "
            "insufficient_privilege "
            "THEN NULL; END $$") == "");
  fixture.Query("DROP ROLE grafana");
}

TEST_CASE("a database role that may not create roles still migrates", "[pg]") {
  // A server of its own, since roles belong to the whole server.
  auto server = PostgresServer::Start().value();
  const std::string owner = server->CreateDatabase();
  server->Query(owner, "CREATE ROLE plain_owner LOGIN; GRANT CREATE ON SCHEMA public TO plain_owner");
  std::string plain = owner;
  plain.replace(plain.find("user=warpsmith"), 14, "user=plain_owner");
  auto version = store::Migrate(plain, store::LoadShippedMigrations().value());
  INFO(Message(version.status()));
  REQUIRE(version.ok());
  CHECK(server->Query(owner, "SELECT count(*) FROM pg_roles WHERE rolname = 'warpsmith_reader'") == "0");
  // Without the right to know the folder there is no free space to look at, and no alarm.
  store::PostgresDatabase database(plain, store::SqlLibrary::LoadShipped().value(), 1, RealClock());
  DiskAlarm alarm(database, {}, FreeBytesOf, RealClock(), [](bool) {});
  REQUIRE(alarm.Check().ok());
  CHECK(alarm.health().path.empty());
  CHECK(alarm.health().database_bytes > 0);
  // Whoever may, makes the group later.
  server->Query(owner, "SELECT make_reader_group(); SELECT grant_reader_views()");
  CHECK(server->Query(owner, "SELECT has_table_privilege('warpsmith_reader', 'view_search', 'SELECT')") == "t");
}

TEST_CASE("statements of the coordinator's own have their timeout, and reads cannot write", "[pg]") {
  DatabaseFixture fixture;
  auto folder = TemporaryDirectory::Create("warpsmith-sql-").value();
  REQUIRE(WriteFileAtomically(folder.path() / "a.sql",
                              "-- name: sleep\nSELECT pg_sleep(20)\n-- name: write\nUPDATE worker SET slots = 1\n")
              .ok());
  store::PostgresDatabase database(fixture.conninfo, store::SqlLibrary::Load(folder.path()).value(), 1, RealClock(),
                                   0.2);
  CHECK(absl::IsDeadlineExceeded(
      database.Read([](store::Transaction& transaction) { return transaction.Execute("sleep", {}).status(); })));
  CHECK(absl::IsFailedPrecondition(
      database.Read([](store::Transaction& transaction) { return transaction.Execute("write", {}).status(); })));
  CHECK(database.Write([](store::Transaction& transaction) { return transaction.Execute("write", {}).status(); }).ok());
}

}  // namespace
}  // namespace warpsmith::operations
