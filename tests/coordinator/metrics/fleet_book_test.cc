#include "coordinator/metrics/fleet_book.h"

#include <catch2/catch.hpp>
#include <set>

namespace warpsmith::metrics {
namespace {

engine::FleetMember Member(const std::string& id, const std::string& boot = "b1", const std::string& node = "n1") {
  engine::FleetMember member;
  member.worker_id = id;
  member.boot_id = boot;
  member.node = node;
  member.gpu = "0";
  return member;
}

int Count(const FleetBook& book, const std::string& node, const std::string& state) {
  const FleetFigures figures = book.Figures();
  const auto found = figures.gpus.find({node, state});
  return found == figures.gpus.end() ? -1 : found->second;
}

TEST_CASE("a device has one state, the gravest that holds", "[unit]") {
  FakeClock clock;
  FleetBook book(clock);
  engine::FleetMember busy = Member("busy"), hot = Member("hot"), draining = Member("draining"),
                      wedged = Member("wedged", "b1", "n2"), retired = Member("retired", "b1", "n2");
  busy.busy = hot.busy = true;
  hot.condition.set_throttled(true);
  draining.draining = draining.busy = true;
  wedged.condition.set_wedged(true);
  wedged.draining = true;
  retired.condition.set_wedged(true);
  retired.condition.set_retired(true);
  CHECK(book.Update({Member("idle"), busy, hot, draining, wedged, retired}).empty());
  CHECK(Count(book, "n1", "idle") == 1);
  CHECK(Count(book, "n1", "busy") == 1);
  CHECK(Count(book, "n1", "throttled") == 1);
  CHECK(Count(book, "n1", "draining") == 1);
  CHECK(Count(book, "n1", "wedged") == 0);
  CHECK(Count(book, "n2", "wedged") == 1);
  CHECK(Count(book, "n2", "quarantined") == 1);
  CHECK(Count(book, "n3", "idle") == -1);
  CHECK(book.Figures().connected == 4);
  CHECK(book.Figures().draining == 2);
  CHECK(book.PlaceOf("wedged").node == "n2");
  CHECK(book.PlaceOf("nobody").node == kOther);
}

TEST_CASE("a worker that is gone is silent unless it drained; ill devices are remembered", "[unit]") {
  FakeClock clock;
  FleetBook book(clock);
  engine::FleetMember draining = Member("draining"), wedged = Member("wedged");
  draining.draining = true;
  wedged.condition.set_wedged(true);
  book.Update({Member("killed"), draining, wedged});
  book.Update({});
  CHECK(book.Figures().connected == 0);
  CHECK(book.Figures().silent == 1);
  CHECK(Count(book, "n1", "idle") == 0);
  CHECK(Count(book, "n1", "wedged") == 1);
  book.Update({Member("killed")});  // the same process, connected again
  CHECK(book.Figures().silent == 0);
  book.Update({});
  clock.Advance(std::chrono::minutes(61));
  book.Update({});
  CHECK(book.Figures().silent == 0);
  CHECK(Count(book, "n1", "wedged") == 1);
  clock.Advance(std::chrono::hours(24 * 8));
  book.Update({});
  CHECK(Count(book, "n1", "wedged") == -1);
}

TEST_CASE("a new process of a worker is a restart, with its reason", "[unit]") {
  FakeClock clock;
  FleetBook book(clock);
  engine::FleetMember draining = Member("b"), wedged = Member("c"), retired = Member("d");
  draining.draining = true;
  wedged.condition.set_wedged(true);
  retired.condition.set_retired(true);
  book.Update({Member("a"), draining, wedged, retired});
  book.Update({});
  std::set<std::string> reasons;
  for (const FleetRestart& restart :
       book.Update({Member("a", "b2"), Member("b", "b2"), Member("c", "b2"), Member("d", "b2"), Member("e", "b2")})) {
    CHECK(restart.node == "n1");
    reasons.insert(restart.reason);
  }
  CHECK(reasons == std::set<std::string>{"died", "drained", "wedged", "retired"});
  CHECK(book.Update({Member("a", "b2")}).empty());
}

TEST_CASE("ten thousand workers of ten thousand nodes make no more than some hundred labels", "[unit]") {
  FakeClock clock;
  FleetBook book(clock);
  std::vector<engine::FleetMember> members;
  for (int i = 0; i < 10'000; ++i) {
    members.push_back(Member("w" + std::to_string(i), "b", "node" + std::to_string(i)));
    members.back().gpu = std::to_string(i);
  }
  members.push_back(Member("unnamed", "b", ""));
  book.Update(members);
  std::set<std::string> nodes, gpus;
  for (const auto& [labels, count] : book.Figures().gpus) nodes.insert(labels.first);
  for (const auto& member : members) gpus.insert(book.PlaceOf(member.worker_id).gpu);
  CHECK(nodes.size() == 501);
  CHECK(gpus.size() <= 65);
  CHECK(Count(book, kOther, "idle") == 10'001 - 500);
  CHECK(book.Figures().connected == 10'001);
}

}  // namespace
}  // namespace warpsmith::metrics
