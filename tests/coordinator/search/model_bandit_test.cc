#include "coordinator/search/model_bandit.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "common/hash.h"

namespace warpsmith::search {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

void CheckNumbers(const ModelBandit& bandit, const std::vector<std::string>& arms) {
  for (double score : bandit.Scores(arms)) CHECK(!std::isnan(score));
  double sum = 0;
  for (double probability : bandit.Probabilities(arms)) {
    CHECK((probability >= 0 && probability <= 1));
    sum += probability;
  }
  CHECK(sum == Approx(1));
  for (const auto& [name, arm] : bandit.state().arms) {
    CHECK(!std::isnan(arm.log_sum));
    CHECK(arm.log_sum < kInfinity);
    CHECK(std::isfinite(arm.weight));
  }
  CHECK(!std::isnan(bandit.state().log_best));
}

uint64_t Seed(int seed, int step) { return Sha256Prefix(std::to_string(seed) + "/" + std::to_string(step)); }

TEST_CASE("one result gives what the formulas give", "[unit]") {
  BanditSettings settings;
  settings.cost_share = 0;
  ModelBandit bandit(settings);
  bandit.Submit("a", 4);
  bandit.Submit("b", 2);
  bandit.Succeed("a", 0.5, 0.2);
  const double x = std::log(std::expm1(0.3));
  const auto faded = [](double s) { return s + std::log(0.95) - std::log1p(0.05 * std::exp(s)); };
  CHECK(bandit.state().arms.at("a").log_sum == Approx(faded(x)));
  CHECK(bandit.state().arms.at("a").weight == Approx(0.95));
  // Never below the best mean.
  CHECK(bandit.state().log_best == Approx(std::max(faded(x), faded(x) - std::log(0.95))));
  const std::vector<double> scores = bandit.Scores({"a", "b"});
  CHECK(scores[0] == Approx(1 + std::sqrt(2 * std::log(6) / 4)));
  CHECK(scores[1] == Approx(std::sqrt(2 * std::log(6) / 2)));
  CHECK(bandit.Probabilities({"a", "b"}) == std::vector<double>{0.8, 0.2});

  SECTION("a score below PyTorch's or the parent's is a failure, and failures alone have the mean 0") {
    ModelBandit worse(settings);
    worse.Submit("a", 1);
    worse.Succeed("a", -0.5, -2.0);
    CHECK(worse.state().arms.at("a").log_sum == -kInfinity);
    CHECK(worse.state().arms.at("a").finished == 1);
    CHECK(worse.Scores({"a"})[0] == 0);  // the logarithm of one pull is 0
  }
  SECTION("cost") {
    BanditSettings with;
    ModelBandit costed(with, bandit.state());
    costed.AddCost("a", 0.4, 2);
    costed.AddCost("b", 0.1, 1);
    // Means 0.2 and 0.1, median 0.15, range 0.1.
    const double a = 0.15 / (0.2 - 0.1 * 0.1 * std::sqrt(2 * std::log(6) / 2));
    const double b = 0.15 / (0.1 - 0.1 * 0.1 * std::sqrt(2 * std::log(6) / 1));
    CHECK(costed.Scores({"a", "b"})[0] == Approx(0.5 * scores[0] + 0.5 * a / b));
    CHECK(costed.Scores({"a", "b"})[1] == Approx(0.5 * scores[1] + 0.5));
    CHECK(costed.Scores({"b", "a"})[0] == costed.Scores({"a", "b"})[1]);
  }
}

TEST_CASE("unseen arms come first, each once, in an order of the seed's", "[unit]") {
  const std::vector<std::string> arms = {"a", "b", "c", "d", "e"};
  std::set<size_t> firsts;
  for (int seed = 0; seed < 20; ++seed) {
    ModelBandit bandit;
    bandit.Submit("a", 3);
    bandit.Succeed("a", 3, 0);
    std::set<size_t> chosen;
    for (int step = 0; step < 4; ++step) {
      const size_t arm = bandit.Choose(arms, Seed(seed, step));
      if (step == 0) firsts.insert(arm);
      chosen.insert(arm);
      bandit.Submit(arms[arm]);
    }
    CHECK(chosen == std::set<size_t>{1, 2, 3, 4});
  }
  CHECK(firsts.size() > 1);
}

TEST_CASE("the same state, seed and arms give the same choice in any order", "[property]") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    ModelBandit bandit;
    std::vector<std::string> arms = {"a", "b", "c", "d"};
    for (int i = 0; i < 30; ++i) {
      bandit.Submit(arms[random() % 4]);
      bandit.Succeed(arms[random() % 4], 0.01 * (random() % 100), 0);
    }
    const std::string chosen = arms[bandit.Choose(arms, Seed(trial, 0))];
    std::shuffle(arms.begin(), arms.end(), random);
    CHECK(arms[bandit.Choose(arms, Seed(trial, 0))] == chosen);
  }
}

TEST_CASE("calls in flight spread the choices of a burst", "[property]") {
  const std::vector<std::string> arms = {"a", "b", "c", "d"};
  BanditSettings settings;
  settings.epsilon = 0;
  settings.cost_share = 0;
  ModelBandit bandit(settings);
  for (const std::string& arm : arms) {
    bandit.Submit(arm);
    bandit.Succeed(arm, arm == "a" ? 0.30 : 0.28, 0);
  }
  std::map<std::string, int> counted, uncounted;
  ModelBandit blind = bandit;
  for (int i = 0; i < 100; ++i) {
    const std::string arm = arms[bandit.Choose(arms, Seed(1, i))];
    ++counted[arm];
    bandit.Submit(arm);
    ++uncounted[arms[blind.Choose(arms, Seed(1, i))]];
  }
  CHECK(uncounted.size() == 1);
  REQUIRE(counted.size() == 4);
  for (const auto& [arm, count] : counted) CHECK(count >= 10);
}

// A world in which each arm succeeds with some probability and then gains something.
struct BanditWorld {
  std::vector<std::string> arms;
  std::vector<double> success, gain, usd;
  double Value(size_t arm) const { return success[arm] * std::expm1(gain[arm]); }
};

double Regret(const BanditWorld& world, int seed, int from, int to) {
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  std::uniform_real_distribution<double> uniform;
  ModelBandit bandit;
  double best = 0;
  for (size_t i = 0; i < world.arms.size(); ++i) best = std::max(best, world.Value(i));
  double regret = 0;
  std::vector<std::pair<size_t, double>> flight;  // results that come later
  for (int step = 0; step < to; ++step) {
    const size_t arm = bandit.Choose(world.arms, Seed(seed, step));
    bandit.Submit(world.arms[arm]);
    bandit.AddCost(world.arms[arm], world.usd[arm]);
    flight.emplace_back(arm, uniform(random) < world.success[arm] ? world.gain[arm] * (0.5 + uniform(random)) : -1);
    if (step >= from) regret += best - world.Value(arm);
    while (flight.size() > 8) {
      const auto [done, score] = flight.front();
      flight.erase(flight.begin());
      if (score < 0) {
        bandit.Fail(world.arms[done]);
      } else {
        bandit.Succeed(world.arms[done], score, 0);
      }
    }
  }
  return regret / (to - from);
}

TEST_CASE("regret falls, well below that of an even split", "[property]") {
  BanditWorld world{
      {"strong", "weak", "useless", "lucky"}, {0.7, 0.4, 0.05, 0.1}, {0.06, 0.02, 0.02, 0.05}, {1, 1, 1, 1}};
  double even = 0;
  for (size_t i = 0; i < 4; ++i) even += (world.Value(0) - world.Value(i)) / 4;
  double early = 0, late = 0;
  for (int seed = 0; seed < 40; ++seed) {
    early += Regret(world, seed, 0, 20) / 40;
    late += Regret(world, seed, 150, 300) / 40;
  }
  CHECK(late < 0.7 * early);
  CHECK(late < 0.6 * even);
}

TEST_CASE("of two that gain alike the cheaper one is asked more", "[property]") {
  const BanditWorld world{{"dear", "cheap"}, {0.5, 0.5}, {0.4, 0.4}, {1.0, 0.05}};
  int cheap = 0;
  for (int seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    ModelBandit bandit;
    for (int step = 0; step < 100; ++step) {
      const size_t arm = bandit.Choose(world.arms, Seed(seed, step));
      cheap += static_cast<int>(arm);
      bandit.Submit(world.arms[arm]);
      bandit.AddCost(world.arms[arm], world.usd[arm]);
      if (random() % 2 == 0) {
        bandit.Succeed(world.arms[arm], world.gain[arm], 0);
      } else {
        bandit.Fail(world.arms[arm]);
      }
    }
  }
  CHECK(cheap > 20 * 100 * 65 / 100);
}

TEST_CASE("scores of arms that stay are the same after others came, went and changed places", "[property]") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    ModelBandit bandit;
    const std::vector<std::string> before = {"a", "b", "c", "d"};
    for (const std::string& arm : before) bandit.Submit(arm);
    for (int i = 0; i < 20; ++i) {
      const std::string& arm = before[random() % 4];
      bandit.Submit(arm);
      bandit.AddCost(arm, 0.001 * (random() % 1000));
      if (random() % 3 == 0) {
        bandit.Fail(arm);
      } else {
        bandit.Succeed(arm, 0.01 * (random() % 100), 0.01 * (random() % 30));
      }
    }
    const ModelBandit restored({}, bandit.state());
    CHECK(restored.state() == bandit.state());
    const std::vector<double> old_scores = bandit.Scores(before);
    const std::vector<double> scores = restored.Scores({"new", "d", "b"});
    CHECK(scores[0] == kInfinity);
    CHECK(scores[1] == old_scores[3]);
    CHECK(scores[2] == old_scores[1]);
    // One that comes back is no stranger.
    CHECK(restored.Scores({"a"})[0] == old_scores[0]);
  }
}

TEST_CASE("nothing is ever not a number", "[property]") {
  std::mt19937_64 random(3);
  const double odd[] = {0,   -0.0, 1e-300, -1e-300, 1e-12, 1e-3, 0.5,       1,         30,
                        800, 1e6,  1e300,  -1e300,  -5,    NAN,  kInfinity, -kInfinity};
  const std::vector<std::string> arms = {"a", "b", "c"};
  const auto pick = [&] { return odd[random() % std::size(odd)]; };
  for (int trial = 0; trial < 300; ++trial) {
    ModelBandit bandit;
    CheckNumbers(bandit, arms);
    for (int step = 0; step < 60; ++step) {
      const std::string& arm = arms[random() % 3];
      switch (random() % 4) {
        case 0:
          bandit.Submit(arm, static_cast<int64_t>(random() % 3));
          break;
        case 1:
          bandit.Succeed(arm, pick(), pick());
          break;
        case 2:
          bandit.Fail(arm);
          break;
        default:
          bandit.AddCost(arm, pick(), static_cast<int64_t>(random() % 3));
      }
    }
    CheckNumbers(bandit, arms);
    CHECK(bandit.Choose(arms, random()) < 3);
  }
  SECTION("after so long that weights have faded to nothing") {
    ModelBandit bandit;
    bandit.Submit("a");
    bandit.Succeed("a", 0.5, 0);
    for (int i = 0; i < 30000; ++i) bandit.Fail("b");
    CheckNumbers(bandit, arms);
  }
}

TEST_CASE("a draw by weight gives each its share, and nothing to weight 0", "[property]") {
  const std::vector<std::string> names = {"x", "y", "z"};
  std::vector<int> counts(3);
  for (int i = 0; i < 6000; ++i) ++counts[DrawName(names, {1, 0, 2}, Seed(5, i))];
  CHECK(counts[0] == Approx(2000).margin(200));
  CHECK(counts[1] == 0);
  CHECK(counts[2] == Approx(4000).margin(200));
  CHECK(DrawName(names, {0, 0, 0}, 1) == 0);
}

}  // namespace
}  // namespace warpsmith::search
