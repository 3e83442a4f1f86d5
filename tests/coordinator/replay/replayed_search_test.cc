// One search replayed on a recorded tree: what is drawn, what it costs, how it ends.
#include "coordinator/replay/replayed_search.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/coordinator/replay/recordings.h"

namespace warpsmith::replay {
namespace {

RecordedTree TreeOf(const v1::Recording& recording) {
  auto tree = RecordedTree::Make(recording);
  REQUIRE(tree.ok());
  return *std::move(tree);
}

TEST_CASE("children of a recorded parent come first, each once, and none is made up while there are some", "[unit]") {
  RecordingBuilder builder;
  const std::string first = builder.Idea("", 1);
  const std::string kernel = builder.Kernel(first, 0.5);
  builder.Kernel(builder.Idea("", 1), 0.1);
  builder.Kernel(builder.Idea(kernel, 2), 0.9);
  const RecordedTree tree = TreeOf(builder.recording());
  Draws draws(tree, 1);
  std::set<int> seen;
  for (int i = 0; i < 2; ++i) {
    DrawnIdea idea = draws.Idea(kModule, 0);
    CHECK_FALSE(idea.surrogate);
    seen.insert(idea.idea);
    const DrawnAttempt attempt = draws.Implementation(idea);
    CHECK_FALSE(attempt.surrogate);
    CHECK(attempt.AsParent() == attempt.attempt);
  }
  CHECK(seen.size() == 2);
  DrawnIdea child = draws.Idea(0, 0.5);
  CHECK_FALSE(child.surrogate);
  CHECK(draws.Implementation(child).log_ratio == 0.9);
  CHECK(draws.surrogate_ideas() == 0);

  DrawnIdea third = draws.Idea(kModule, 0);
  CHECK(third.surrogate);
  CHECK(draws.surrogate_ideas() == 1);
}

TEST_CASE("a surrogate brings the gain that its idea brought, and never beats the fastest recorded kernel", "[unit]") {
  RecordingBuilder builder;
  const std::string parent = builder.Kernel(builder.Idea("", 1), 0.5);
  builder.Kernel(builder.Idea(parent, 2), 0.7);
  const RecordedTree tree = TreeOf(builder.recording());
  Draws draws(tree, 3);
  bool gained = false, capped = false;
  for (int i = 0; i < 50; ++i) {
    DrawnIdea idea = draws.Idea(kUnrecorded, 0.4);
    const DrawnAttempt attempt = draws.Implementation(idea);
    REQUIRE(attempt.surrogate);
    REQUIRE(attempt.log_ratio <= 0.7);
    gained |= std::abs(attempt.log_ratio - 0.6) < 1e-12;  // 0.4 and the second idea's 0.2
    capped |= attempt.log_ratio == 0.7;                   // 0.4 and the first idea's 0.5
  }
  CHECK(gained);
  CHECK(capped);
}

TEST_CASE("an idea is likely to be one that was had for a parent as fast", "[unit]") {
  RecordingBuilder builder;
  std::string slow, fast;
  for (int i = 0; i < 20; ++i) slow = builder.Kernel(builder.Idea("", 1), 0.1);
  fast = builder.Kernel(builder.Idea(slow, 2), 2.0);
  for (int i = 0; i < 20; ++i) builder.Kernel(builder.Idea(fast, 3), 2.01);
  const RecordedTree tree = TreeOf(builder.recording());
  Draws draws(tree, 3);
  for (int i = 0; i < 30; ++i) {
    DrawnIdea idea = draws.Idea(kUnrecorded, 1.9);
    CHECK(tree.ideas()[static_cast<size_t>(idea.idea)].parent_log_ratio == 2.0);
  }
}

TEST_CASE("a replay costs what was recorded, takes its time on the machines there are, and repeats exactly", "[unit]") {
  const RecordedTree tree = TreeOf(Climbing());
  const auto run = ReplaySearch(tree, tree.settings(), {1, 8}, 7);
  REQUIRE(run.ok());
  CHECK(run->finish_reason == "rounds");
  CHECK(run->found);
  // Round 1 asks once for all ideas, later rounds once a parent; 8 kernels a round.
  CHECK(run->progress.back().tokens == 5 * 1000 + 24 * 2000);
  CHECK(run->progress.back().usd == Approx(0.053));
  CHECK(run->attempts == 24);
  // 24 kernels at a quarter of a second, and up to three confirmed again.
  CHECK(run->progress.back().gpu_seconds >= 24 * 0.25 + 0.25);
  CHECK(run->progress.back().gpu_seconds <= 27 * 0.25);
  CHECK(run->progress.back().best_log_ratio <= tree.best_log_ratio());
  for (size_t i = 1; i < run->progress.size(); ++i) {
    CHECK(run->progress[i].best_log_ratio >= run->progress[i - 1].best_log_ratio);
    CHECK(run->progress[i].tokens >= run->progress[i - 1].tokens);
    CHECK(run->progress[i].seconds >= run->progress[i - 1].seconds);
  }
  const auto again = ReplaySearch(tree, tree.settings(), {1, 8}, 7);
  REQUIRE(again.ok());
  CHECK(again->progress.back().seconds == run->progress.back().seconds);
  CHECK(again->progress.back().best_log_ratio == run->progress.back().best_log_ratio);
  const auto alone = ReplaySearch(tree, tree.settings(), {1, 1}, 7);
  REQUIRE(alone.ok());
  CHECK(alone->progress.back().seconds > run->progress.back().seconds);
}

TEST_CASE("a replay keeps to its budget and says why it ended", "[unit]") {
  const RecordedTree tree = TreeOf(Climbing());
  v1::SearchSettings settings = tree.settings();
  settings.set_max_tokens(20000);
  const auto run = ReplaySearch(tree, settings, {}, 7);
  REQUIRE(run.ok());
  CHECK(run->finish_reason == "budget");
  CHECK(run->progress.back().tokens <= 20000);
}

TEST_CASE("failures are repaired as recorded", "[unit]") {
  RecordingBuilder builder;
  builder.settings().set_rounds(1);
  builder.settings().set_parents(1);
  builder.settings().set_ideas(1);
  builder.settings().set_implementations(1);
  builder.settings().set_repairs(2);
  const std::string idea = builder.Idea("", 1);
  const std::string failed = builder.Kernel(idea, 0, v1::OUTCOME_COMPILE_ERROR);
  builder.Kernel(idea, 0.3, v1::OUTCOME_OK, failed, 1);
  const RecordedTree tree = TreeOf(builder.recording());
  const auto run = ReplaySearch(tree, tree.settings(), {}, 1);
  REQUIRE(run.ok());
  CHECK(run->found);
  CHECK(run->progress.back().best_log_ratio == 0.3);
  CHECK(run->surrogate_attempts == 0);
}

TEST_CASE("a search of which nothing came is refused, and wrong settings are told", "[unit]") {
  RecordingBuilder builder;
  builder.Idea("", 1);
  const auto tree = RecordedTree::Make(builder.recording());
  REQUIRE(tree.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(Message(tree.status()), Catch::Contains("recorded"));
  v1::SearchSettings settings;
  settings.set_strategy("guessing");
  CHECK(ReplaySearch(TreeOf(Climbing()), settings, {}, 1).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("every strategy ends on random trees", "[unit]") {
  std::mt19937_64 random(11);
  for (int seed = 0; seed < 40; ++seed) {
    RecordingBuilder builder;
    std::vector<std::string> kernels = {""};
    for (int i = 0; i < 30; ++i) {
      const std::string idea = builder.Idea(kernels[random() % kernels.size()], 1);
      for (int k = static_cast<int>(random() % 3); k >= 0; --k) {
        const bool good = random() % 3 != 0;
        const double ratio = static_cast<double>(random() % 1000) * 1e-3;
        const std::string id = builder.Kernel(idea, ratio, good ? v1::OUTCOME_OK : v1::OUTCOME_TIMEOUT);
        if (good) kernels.push_back(id);
      }
    }
    const auto tree = RecordedTree::Make(builder.recording());
    REQUIRE(tree.ok());
    for (const char* strategy : {"branching", "sequential", "best_of_n", "evolve"}) {
      v1::SearchSettings settings;
      settings.set_strategy(strategy);
      settings.set_preset("quick");
      INFO(strategy << " " << seed);
      const auto run = ReplaySearch(*tree, settings, {2, 4}, static_cast<uint64_t>(seed));
      REQUIRE(run.ok());
      CHECK(run->progress.back().best_log_ratio <= tree->best_log_ratio());
    }
  }
}

}  // namespace
}  // namespace warpsmith::replay
