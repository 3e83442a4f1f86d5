// How the shipped statements are run, whatever the tables looked like when their plans were made.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/coordinator/database_fixture.h"

namespace warpsmith {
namespace {

using testing::DatabaseFixture;
using testing::PostgresServer;

// What a plan of this statement looks like that suits any parameters, as a write makes it.
std::string PlanOf(DatabaseFixture& fixture, const std::string& name) {
  const auto library = store::SqlLibrary::LoadShipped().value();
  const std::string& sql = library.statements().at(name);
  int parameters = 0;
  while (sql.find("$" + std::to_string(parameters + 1)) != std::string::npos) ++parameters;
  std::string values;
  for (int i = 0; i < parameters; ++i) values += i == 0 ? "(NULL" : ", NULL";
  if (parameters > 0) values += ")";
  std::string first = library.statements().at("check_term");
  first.replace(first.find("$1"), 2, "0");
  return fixture.Query("BEGIN; " + first + "; SET LOCAL plan_cache_mode = force_generic_plan; PREPARE asked AS " + sql +
                       "; EXPLAIN EXECUTE asked" + values + "; ROLLBACK");
}

// Lines of a plan that read all there is.
std::string ReadsAll(const std::string& plan) {
  std::istringstream lines(plan);
  std::string line, before, found;
  const auto large = [](const std::string& text) {
    for (const char* table : {" on task", " on candidate", " on evaluation", " on search", " on idea", " on round"}) {
      if (text.find(table) != std::string::npos) return true;
    }
    return false;
  };
  while (std::getline(lines, line)) {
    if (line.find("Seq Scan") != std::string::npos) found += line + "\n";
    const bool by_key = line.find("Index Cond:") != std::string::npos;
    if (before.find("Index Scan") != std::string::npos && large(before) && !by_key) found += before + "\n";
    before = line;
  }
  return found;
}

TEST_CASE("what runs for every result finds its rows by keys, also with a plan made for empty tables", "[pg]") {
  DatabaseFixture fixture;
  for (const char* name :
       {"task_claim_chosen", "assignment_sources", "assignment_bests", "search_lock_of_tasks", "task_complete",
        "search_eager", "candidates_set_results", "candidates_copy_results", "candidates_release_renamed",
        "searches_refresh_best", "rounds_progress", "task_renew_many", "candidate_get", "search_get"}) {
    const std::string plan = PlanOf(fixture, name);
    INFO(name << "\n" << plan);
    CHECK(plan.find("Scan") != std::string::npos);
    CHECK(ReadsAll(plan).empty());
  }
}

TEST_CASE("counting what is under way does not read what has ended", "[pg]") {
  DatabaseFixture fixture;
  fixture.Query(
      "INSERT INTO task (kind, dedupe_key, search_id, state, deadline_seconds) "
      "SELECT 'evaluate', n::text, 'ended', 'done', 60 FROM generate_series(1, 20000) n; ANALYZE task");
  const auto library = store::SqlLibrary::LoadShipped().value();
  for (const char* name : {"metrics_tasks", "queue_status"}) {
    const std::string plan = fixture.Query("EXPLAIN " + library.statements().at(name));
    INFO(name << "\n" << plan);
    CHECK(plan.find("Seq Scan") == std::string::npos);
  }
}

TEST_CASE("a plan that was made for an empty table is made anew soon", "[pg]") {
  const std::string conninfo = PostgresServer::Shared().CreateDatabase();
  const auto query = [&](const std::string& sql) { PostgresServer::Shared().Query(conninfo, sql); };
  query("CREATE TABLE grown (id integer PRIMARY KEY, text text) WITH (autovacuum_enabled = off)");
  query("VACUUM ANALYZE grown");
  const TemporaryDirectory folder = TemporaryDirectory::Create("warpsmith-sql-").value();
  REQUIRE(WriteFileAtomically(folder.path() / "a.sql",
                              "-- name: by_key\nSELECT text FROM grown WHERE id = $1\n"
                              "-- name: generic\nSET plan_cache_mode = force_generic_plan\n"
                              "-- name: plan\nEXPLAIN EXECUTE by_key (1)\n")
              .ok());
  FakeClock clock;
  store::PostgresDatabase database(conninfo, store::SqlLibrary::Load(folder.path()).value(), 1, clock);
  database.RenewPlans();
  const auto plan = [&] {
    std::string text;
    const absl::Status status = database.Write([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("generic", {}).status());
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("by_key", {1}).status());
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("plan", {}));
      for (const store::Row row : rows) text += row.Text("QUERY PLAN") + "\n";
      return absl::OkStatus();
    });
    INFO(Message(status));
    REQUIRE(status.ok());
    return text;
  };
  CHECK_THAT(plan(), Catch::Contains("Seq Scan"));
  query("INSERT INTO grown SELECT n, 'text' FROM generate_series(1, 20000) n");
  CHECK_THAT(plan(), Catch::Contains("Seq Scan"));
  clock.Advance(std::chrono::seconds(2));
  CHECK_THAT(plan(), Catch::Contains("Index Scan"));
}

}  // namespace
}  // namespace warpsmith
