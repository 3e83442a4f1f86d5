// From the previous schema and protocol to this one, with work under way.
#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include "coordinator/store/migrator.h"
#include "tests/coordinator/cluster_fixture.h"
#include "tests/coordinator/previous_worker.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::testing {
namespace {

constexpr int kOldSchema = 3;  // that which previous_protocol.proto goes with

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A database at an older schema with what a newer one holds, as far as the old columns go.
struct OldDatabase {
  OldDatabase(const std::string& from, int schema) : conninfo(PostgresServer::Shared().CreateDatabase()) {
    auto migrations = store::LoadShippedMigrations().value();
    migrations.resize(static_cast<size_t>(schema));
    REQUIRE(store::Migrate(conninfo, migrations).value() == schema);
    tables = Lines(Query(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> "
        "'schema_migration' ORDER BY relname"));
    for (const std::string& table : tables) {
      const std::string columns = Columns(table);
      // Through the server's own file system: both databases are one server's.
      const std::string file = fmt::format("/tmp/warpsmith-upgrade-{}-{}", getpid(), table);
      PostgresServer::Shared().Query(from, fmt::format("COPY (SELECT {} FROM {}) TO '{}'", columns, table, file));
      Query(fmt::format("SET session_replication_role = replica; DELETE FROM {0}; COPY {0} ({1}) FROM '{2}'", table,
                        columns, file));
      std::filesystem::remove(file);
      for (const std::string& column : Lines(Query(fmt::format(
               "SELECT attname FROM pg_attribute WHERE attrelid = '{}'::regclass AND attidentity <> ''", table)))) {
        Query(
            fmt::format("SELECT setval(pg_get_serial_sequence('{0}', '{1}'), (SELECT coalesce(max({1}), 0) + 1 FROM "
                        "{0}))",
                        table, column));
      }
    }
  }

  std::string Query(const std::string& sql) { return PostgresServer::Shared().Query(conninfo, sql); }
  std::string Columns(const std::string& table) {
    return Query(
        fmt::format("SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = "
                    "'{}'::regclass AND attnum > 0 AND NOT attisdropped",
                    table));
  }
  // Every row of a table in these columns.
  std::string Digest(const std::string& table, const std::string& columns) {
    return Query(fmt::format(
        "SELECT count(*), md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))) FROM (SELECT {} FROM {}) r", columns,
        table));
  }

  const std::string conninfo;
  std::vector<std::string> tables;
};

// A cluster with one search that has ended and one in mid-evaluation, stopped there.
struct HalfWay {
  HalfWay() {
    auto worker = cluster.Worker("w1");
    auto first = SmallSearch(1);
    first.mutable_settings()->set_max_usd(50);
    finished_id = cluster.Submit(first).value();
    REQUIRE(cluster.Finished(finished_id).state() == v1::SEARCH_STATE_DONE);
    running_id = cluster.Submit(SmallSearch(3)).value();
    REQUIRE(cluster.Eventually(
        [&] { return cluster.Query("SELECT state FROM search WHERE id = '" + running_id + "'") == "running"; }));
    worker->hold = true;
    REQUIRE(cluster.Eventually([&] {
      return cluster.Query("SELECT count(*) FROM task WHERE kind = 'evaluate' AND state = 'running'") != "0" &&
             cluster.Query("SELECT count(*) FROM candidate WHERE search_id = '" + running_id + "'") == "4";
    }));
    cluster.StopCoordinator();
    worker.reset();
    // What a search alone does not make.
    cluster.Query("INSERT INTO batch (id, name) VALUES ('batch-of-old', 'level1')");
    if (cluster.Query("SELECT count(*) FROM kernel") == "0") {
      cluster.Query(
          "INSERT INTO kernel (id, candidate_id, search_id, problem_id, problem_name, operator_family, device_class, "
          "emulated, median_ms, ratio_to_eager, log_ratio, precision_class, idea_title, source_sha256, champion, "
          "state) "
          "SELECT 'kernel-of-old', c.id, c.search_id, s.problem_id, s.name, 'softmax', 'emulated', true, c.median_ms, "
          "c.ratio_to_eager, c.log_ratio, 1, 'idea', c.source_sha256, true, 'unconfirmed' FROM candidate c JOIN search "
          "s ON s.id = c.search_id WHERE c.id = s.best_candidate_id AND s.id = '" +
          finished_id + "'");
    }
  }
  Cluster cluster;
  std::string finished_id;
  std::string running_id;
};

TEST_CASE("a database of an older schema is upgraded with all its rows, and its search goes on", "[pg]") {
  const auto migrations = store::LoadShippedMigrations().value();
  const int last = static_cast<int>(migrations.size()) - 1;
  const int schema = GENERATE_COPY(kOldSchema, last);
  INFO("from schema " << schema);
  REQUIRE(last > kOldSchema);
  HalfWay half;
  OldDatabase old(half.cluster.options.database, schema);
  CHECK(old.tables.size() >= 16);
  std::map<std::string, std::pair<std::string, std::string>> before;
  for (const std::string& table : old.tables) {
    INFO(table);
    // Later tables hold what a search alone does not make.
    if (schema == kOldSchema) CHECK(old.Query("SELECT count(*) FROM " + table) != "0");
    const std::string columns = old.Columns(table);
    before[table] = {columns, old.Digest(table, columns)};
  }

  auto version = store::Migrate(old.conninfo, migrations);
  INFO(Message(version.status()));
  REQUIRE(version.ok());
  CHECK(*version == static_cast<int>(migrations.size()));
  for (const auto& [table, was] : before) {
    // The bank's newer rules say anew which kernels may lead other searches.
    if (table == "kernel" && schema == kOldSchema) continue;
    INFO(table);
    CHECK(old.Digest(table, was.first) == was.second);
  }
  CHECK(old.Query("SELECT count(*) FROM kernel") != "0");

  half.cluster.options.database = old.conninfo;
  half.cluster.StartCoordinator();
  auto worker = half.cluster.Worker("w2");
  const v1::Search search = half.cluster.Finished(half.running_id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.rounds_size() == 3);
  CHECK(half.cluster.Get(half.finished_id).value().best_ms() > 0);
  CHECK(half.cluster.Tree(half.finished_id).ok());
  CHECK(half.cluster.Bookkeeping() == "");
}

TEST_CASE("a worker of the previous version works through an upgrade of the coordinator", "[pg]") {
  Cluster cluster;
  cluster.gateway.delay_ms = 40;
  PreviousWorker worker(cluster.address(), "old");
  const std::string id = cluster.Submit(SmallSearch(2)).value();
  REQUIRE(cluster.Eventually([&] { return cluster.Query("SELECT state FROM search") == "running"; }));
  worker.hold = true;
  REQUIRE(cluster.Eventually(
      [&] { return cluster.Query("SELECT count(*) FROM task WHERE kind = 'evaluate' AND state = 'running'") != "0"; }));
  cluster.StopCoordinator();
  cluster.StartCoordinator();
  REQUIRE(cluster.Eventually([&] { return worker.connections >= 2; }));
  worker.hold = false;
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.best_ms() > 0);
  CHECK(worker.stale == 0);
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE worker_deaths > 0 OR failures > 0") == "0");
  CHECK(cluster.Bookkeeping() == "");
}

// Every field of an old message must be there still, with its number, its name and its type.
void Compare(const google::protobuf::Descriptor& old, std::vector<std::string>* changes) {
  const std::string name = "warpsmith.v1." + old.name();
  const auto* now = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(name);
  if (now == nullptr) {
    changes->push_back(name + " is gone");
    return;
  }
  for (int i = 0; i < old.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& was = *old.field(i);
    const auto* is = now->FindFieldByNumber(was.number());
    if (is == nullptr || is->name() != was.name() || is->type() != was.type() ||
        is->is_repeated() != was.is_repeated()) {
      changes->push_back(fmt::format("{}.{} = {} is gone or another", name, was.name(), was.number()));
    }
  }
}

TEST_CASE("the protocol that workers speak only grows", "[unit]") {
  const auto* file = previous::WorkerMessage::descriptor()->file();
  REQUIRE(v1::WorkerMessage::descriptor() != nullptr);
  REQUIRE(file->message_type_count() > 20);
  std::vector<std::string> changes;
  for (int i = 0; i < file->message_type_count(); ++i) Compare(*file->message_type(i), &changes);
  CHECK(changes == std::vector<std::string>());
  for (int i = 0; i < file->enum_type_count(); ++i) {
    const auto& old = *file->enum_type(i);
    const auto* now =
        google::protobuf::DescriptorPool::generated_pool()->FindEnumTypeByName("warpsmith.v1." + old.name());
    INFO(old.name());
    REQUIRE(now != nullptr);
    for (int value = 0; value < old.value_count(); ++value) {
      const auto* is = now->FindValueByNumber(old.value(value)->number());
      CHECK((is != nullptr && is->name() == old.value(value)->name()));
    }
  }
}

}  // namespace
}  // namespace warpsmith::testing
