// Waiting is real here, the time that limits go by is not: a held clock is set forward, and a share (of nothing, which
// is the configured limits) makes the callers look at it.
#include "llm_gateway/limits/rate_limiter.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "llm_gateway/async/fibers.h"
#include "llm_gateway/async/wait_point.h"
#include "llm_gateway/http/curl_transport.h"

using namespace warpsmith;
using namespace warpsmith::gateway;
using Catch::Contains;

namespace {

constexpr Duration kLong = std::chrono::hours(1);
constexpr Duration kNone{};

struct Fixture {
  explicit Fixture(const RateLimits& limits) : limiter(limits, clock) {}

  RateLimiter::Admission Try(int64_t tokens) {
    Cancellation cancellation;
    return limiter.Acquire(tokens, kNone, cancellation);
  }
  void Forward(Duration duration) {
    clock.Advance(duration);
    limiter.SetShare({});
  }
  void AwaitWaiting(int waiting) {
    while (limiter.Demand().waiting != waiting) std::this_thread::yield();
  }

  FakeClock clock;
  RateLimiter limiter;
};

// A caller on a thread of its own that keeps its ticket until it is told to let go.
class Caller {
 public:
  Caller(Fixture& fixture, int64_t tokens, Duration longest = kLong, std::function<void()> admitted = nullptr)
      : thread_([this, &fixture, tokens, longest, admitted] {
          auto admission = fixture.limiter.Acquire(tokens, longest, cancellation);
          error = admission.error;
          message = admission.message;
          went = admission.ticket.has_value();
          if (went && admitted) admitted();
          done = true;
        }) {}
  ~Caller() { Join(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

  Cancellation cancellation;
  std::atomic<bool> went{false};
  std::atomic<bool> done{false};
  ErrorClass error = ErrorClass::kNone;
  std::string message;

 private:
  std::thread thread_;
};

}  // namespace

TEST_CASE("without limits every call goes at once", "[unit]") {
  Fixture fixture({});
  std::vector<RateLimiter::Ticket> tickets;
  for (int i = 0; i < 1000; ++i) tickets.push_back(std::move(*fixture.Try(1'000'000).ticket));
  CHECK(fixture.limiter.Demand().in_flight == 1000);
  tickets.clear();
  CHECK(fixture.limiter.Demand().in_flight == 0);
  CHECK(fixture.limiter.Describe().empty());
}

TEST_CASE("requests a minute: the refusal names our limit and when the call could have gone", "[unit]") {
  Fixture fixture({.requests_per_minute = 2});
  CHECK(fixture.Try(1).ticket);
  fixture.clock.Advance(std::chrono::seconds(10));
  CHECK(fixture.Try(1).ticket);
  auto refused = fixture.Try(1);
  REQUIRE_FALSE(refused.ticket);
  CHECK(refused.error == ErrorClass::kOwnRateLimit);
  CHECK_THAT(refused.message, Contains("the gateway's own limit") && Contains("requests_per_minute: 2 allowed") &&
                                  Contains("could have gone in 50.2 s"));
  CHECK(fixture.limiter.Demand().waiting == 0);
  fixture.clock.Advance(std::chrono::milliseconds(50'250));
  CHECK(fixture.Try(1).ticket);
}

TEST_CASE("tries beyond the first count as requests, and a call never sent as none", "[unit]") {
  Fixture fixture({.requests_per_minute = 4});
  auto ticket = std::move(*fixture.Try(1).ticket);
  fixture.limiter.Report(std::move(ticket), 0, 3);
  CHECK(fixture.Try(1).ticket);
  CHECK_FALSE(fixture.Try(1).ticket);
  Fixture other({.requests_per_minute = 1});
  auto unsent = std::move(*other.Try(1).ticket);
  other.limiter.Report(std::move(unsent), 0, 0);
  CHECK(other.Try(1).ticket);
}

TEST_CASE("tokens a minute are estimated and then corrected", "[unit]") {
  Fixture fixture({.tokens_per_minute = 1000});
  auto first = fixture.Try(900);
  REQUIRE(first.ticket);
  auto refused = fixture.Try(200);
  CHECK(refused.error == ErrorClass::kOwnRateLimit);
  CHECK_THAT(refused.message, Contains("tokens_per_minute: 1000 allowed, 200 needed"));
  fixture.limiter.Report(std::move(*first.ticket), 100);
  CHECK(fixture.Try(900).ticket);
  CHECK_FALSE(fixture.Try(1).ticket);
}

TEST_CASE("a call larger than the limit goes alone", "[unit]") {
  Fixture fixture({.tokens_per_minute = 1000});
  CHECK(fixture.Try(5000).ticket);
  CHECK_FALSE(fixture.Try(1).ticket);
  fixture.clock.Advance(std::chrono::seconds(299));
  CHECK_FALSE(fixture.Try(1).ticket);
  fixture.clock.Advance(std::chrono::milliseconds(1250));
  CHECK(fixture.Try(1).ticket);
}

TEST_CASE("concurrency: the next goes when one ends", "[unit]") {
  Fixture fixture({.concurrency = 2});
  auto first = fixture.Try(1);
  auto second = fixture.Try(1);
  auto refused = fixture.Try(1);
  CHECK(refused.error == ErrorClass::kOwnRateLimit);
  CHECK_THAT(refused.message, Contains("concurrency: 2 calls in flight, 2 allowed") && Contains("once a call"));
  Caller waiting(fixture, 1);
  fixture.AwaitWaiting(1);
  CHECK_THAT(fixture.limiter.Describe(), Contains("concurrency"));
  CHECK_FALSE(waiting.done);
  first.ticket.reset();
  waiting.Join();
  CHECK(waiting.went);
}

TEST_CASE("callers are served in order, and a big one is not starved by small ones", "[unit]") {
  Fixture fixture({.tokens_per_minute = 1000});
  REQUIRE(fixture.Try(600).ticket);
  std::mutex mutex;
  std::vector<int> order;
  auto note = [&](int number) {
    return [&, number] {
      std::lock_guard lock(mutex);
      order.push_back(number);
    };
  };
  auto big = std::make_unique<Caller>(fixture, 900, kLong, note(0));
  fixture.AwaitWaiting(1);
  std::vector<std::unique_ptr<Caller>> small;
  for (int i = 1; i <= 5; ++i) {
    small.push_back(std::make_unique<Caller>(fixture, 50, kLong, note(i)));
    fixture.AwaitWaiting(1 + i);
  }
  // 400 tokens are free: enough for every small one, but the big one came first.
  fixture.Forward(std::chrono::seconds(30));
  CHECK(fixture.limiter.Demand().waiting == 6);
  fixture.Forward(std::chrono::seconds(31));
  big->Join();
  CHECK(big->went);
  // With the big one's 900, two of 50 go; the others a minute later.
  while (fixture.limiter.Demand().waiting != 3) std::this_thread::yield();
  fixture.Forward(std::chrono::seconds(61));
  for (auto& caller : small) caller->Join();
  CHECK(order.size() == 6);
  CHECK(std::find(order.begin(), order.end(), 0) - order.begin() <= 2);
}

TEST_CASE("strict order of arrival, one at a time", "[unit]") {
  Fixture fixture({.concurrency = 1});
  auto first = fixture.Try(1);
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < 20; ++i) {
    callers.push_back(std::make_unique<Caller>(fixture, 1, kLong, [&, i] {
      std::lock_guard lock(mutex);
      order.push_back(i);
    }));
    fixture.AwaitWaiting(i + 1);
  }
  first.ticket.reset();
  for (auto& caller : callers) caller->Join();
  REQUIRE(order.size() == 20);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("cancelling ends a wait soon and lets those behind go", "[unit]") {
  Fixture fixture({.tokens_per_minute = 100});
  REQUIRE(fixture.Try(50).ticket);
  Caller big(fixture, 90);
  fixture.AwaitWaiting(1);
  Caller small(fixture, 40);
  fixture.AwaitWaiting(2);
  auto start = std::chrono::steady_clock::now();
  big.cancellation.Cancel();
  big.Join();
  small.Join();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(900));
  CHECK(big.error == ErrorClass::kCancelled);
  CHECK(small.went);
  Cancellation before;
  before.Cancel();
  CHECK(fixture.limiter.Acquire(1, kLong, before).error == ErrorClass::kCancelled);
}

TEST_CASE("a wait ends at its own deadline", "[unit]") {
  Fixture fixture({.requests_per_minute = 1});
  REQUIRE(fixture.Try(1).ticket);
  Caller waiting(fixture, 1, std::chrono::seconds(20));
  fixture.AwaitWaiting(1);
  fixture.Forward(std::chrono::seconds(19));
  CHECK_FALSE(waiting.done);
  fixture.Forward(std::chrono::seconds(1));
  waiting.Join();
  CHECK(waiting.error == ErrorClass::kOwnRateLimit);
  CHECK_THAT(waiting.message, Contains("could have gone in 40.2 s") && Contains("may wait 20.0 s"));
}

TEST_CASE("a server's wish to be left alone holds for every caller and is not called our limit", "[unit]") {
  Fixture fixture({});
  fixture.limiter.Pause(std::chrono::seconds(30));
  fixture.limiter.Pause(std::chrono::seconds(5));  // does not shorten it
  fixture.limiter.Pause(std::chrono::seconds(-5));
  Caller patient(fixture, 1);
  fixture.AwaitWaiting(1);
  CHECK_THAT(fixture.limiter.Describe(), Contains("left alone"));
  // Certain to be late: told at once, although it may wait 10 s.
  Cancellation cancellation;
  auto refused = fixture.limiter.Acquire(1, std::chrono::seconds(10), cancellation);
  CHECK(refused.error == ErrorClass::kRateLimited);
  CHECK_THAT(refused.message, Contains("the server asked to be left alone") && !Contains("own limit"));
  fixture.Forward(std::chrono::seconds(29));
  CHECK_FALSE(patient.done);
  fixture.Forward(std::chrono::seconds(1));
  patient.Join();
  CHECK(patient.went);
}

TEST_CASE("a share of the limits is followed, within what is configured", "[unit]") {
  Fixture fixture({.requests_per_minute = 10, .tokens_per_minute = 0, .concurrency = 8});
  fixture.limiter.SetShare({.requests_per_minute = 3, .tokens_per_minute = 500, .concurrency = 100});
  ModelDemand demand = fixture.limiter.Demand();
  CHECK(demand.configured.requests_per_minute == 10);
  CHECK(demand.in_force.requests_per_minute == 3);
  CHECK(demand.in_force.tokens_per_minute == 500);
  CHECK(demand.in_force.concurrency == 8);
  std::vector<RateLimiter::Ticket> tickets;
  for (int i = 0; i < 3; ++i) tickets.push_back(std::move(*fixture.Try(1).ticket));
  CHECK_FALSE(fixture.Try(1).ticket);
  fixture.limiter.SetShare({});
  CHECK(fixture.limiter.Demand().in_force.requests_per_minute == 10);
  CHECK(fixture.Try(1).ticket);
}

TEST_CASE("many threads never pass the concurrency, and all get through", "[unit]") {
  RateLimiter limiter({.requests_per_minute = 1e9, .tokens_per_minute = 1e12, .concurrency = 7}, RealClock());
  std::atomic<int> in_flight{0}, most{0}, done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 40; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        Cancellation cancellation;
        auto admission = limiter.Acquire(100, kLong, cancellation);
        if (!admission.ticket) continue;
        int now = ++in_flight;
        int seen = most.load();
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --in_flight;
        if ((t + i) % 3 != 0) limiter.Report(std::move(*admission.ticket), 50);
        ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(done == 2000);
  CHECK(most <= 7);
  CHECK(limiter.Demand().in_flight == 0);
  CHECK(limiter.Demand().waiting == 0);
}

namespace {

class NoThreads final : public TaskRunner {
 public:
  void Run(std::function<void()> work) override { work(); }
};

}  // namespace

TEST_CASE("on a fiber, who waits for its turn leaves the thread to others", "[unit]") {
  CurlTransport transport;
  NoThreads threads;
  RateLimiter limiter({0, 0, 1}, RealClock());
  Cancellation nobody;
  RateLimiter::Admission first = limiter.Acquire(1, std::chrono::seconds(1), nobody);
  REQUIRE(first.ticket);
  WaitPoint done;
  bool granted = false;
  Fibers fibers(transport.loop(), threads);
  fibers.Run([&] {
    Cancellation own;
    granted = limiter.Acquire(1, std::chrono::seconds(60), own).ticket.has_value();
    done.Notify();
  });
  fibers.Run([&] { limiter.Report(*std::move(first.ticket), 1); });
  done.Wait();
  CHECK(granted);
}
