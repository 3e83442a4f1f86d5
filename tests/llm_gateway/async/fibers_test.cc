#include "llm_gateway/async/fibers.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "llm_gateway/async/wait_point.h"
#include "llm_gateway/http/curl_transport.h"
#include "llm_gateway/service/parallel.h"
#include "llm_gateway/service/worker_pool.h"

namespace warpsmith::gateway {
namespace {

// A loop, threads for what blocks, and fibers over both.
struct Setting {
  explicit Setting(int most = 8192) : fibers(transport.loop(), threads, most) {}
  CurlTransport transport;
  WorkerPool threads{8};
  Fibers fibers;
};

TEST_CASE("a thousand pieces of work wait on one thread at once", "[unit]") {
  Setting setting;
  constexpr int kCount = 1000;
  std::vector<std::unique_ptr<WaitPoint>> points;
  for (int i = 0; i < kCount; ++i) points.push_back(std::make_unique<WaitPoint>());
  std::atomic<int> begun{0}, ended{0}, elsewhere{0};
  std::atomic<std::thread::id> thread{};
  WaitPoint all;
  for (int i = 0; i < kCount; ++i) {
    setting.fibers.Run([&, i] {
      if (begun++ == 0) thread = std::this_thread::get_id();
      if (!OnFiber()) ++elsewhere;
      int kept = i;
      points[static_cast<size_t>(i)]->Wait();
      if (kept != i || std::this_thread::get_id() != thread.load()) ++elsewhere;
      if (++ended == kCount) all.Notify();
    });
  }
  while (begun < kCount) std::this_thread::yield();
  CHECK(ended == 0);
  CHECK(setting.fibers.active() == kCount);
  CHECK(setting.threads.threads() == 0);
  for (auto& point : points) point->Notify();
  all.Wait();
  CHECK(elsewhere == 0);
}

TEST_CASE("a wait on a fiber ends at its deadline, or sooner where somebody notifies", "[unit]") {
  Setting setting;
  WaitPoint done;
  bool late = true, early = false;
  Duration waited{}, slept{};
  WaitPoint told;
  setting.fibers.Run([&] {
    WaitPoint nobody;
    const TimePoint begin = RealClock().Now();
    late = nobody.WaitUntil(begin + std::chrono::milliseconds(20));
    waited = RealClock().Now() - begin;
    early = told.WaitUntil(RealClock().Now() + std::chrono::seconds(60));
    const TimePoint before = RealClock().Now();
    FakeClock clock;  // a fiber's sleep takes its time whatever the clock
    SleepFor(clock, std::chrono::milliseconds(10));
    slept = RealClock().Now() - before;
    done.Notify();
  });
  told.Notify();
  done.Wait();
  CHECK_FALSE(late);
  CHECK(waited >= std::chrono::milliseconds(20));
  CHECK(early);
  CHECK(slept >= std::chrono::milliseconds(10));
}

TEST_CASE("fibers wake each other, and what blocks is done on a thread of its own", "[unit]") {
  Setting setting;
  WaitPoint ping, pong, done;
  int rounds = 0;
  setting.fibers.Run([&] {
    for (int i = 0; i < 1000; ++i) {
      ping.Notify();
      pong.Wait();
    }
  });
  setting.fibers.Run([&] {
    for (; rounds < 1000; ++rounds) {
      ping.Wait();
      pong.Notify();
    }
    const std::thread::id loop = std::this_thread::get_id();
    std::thread::id other = loop;
    RunBlocking([&other] { other = std::this_thread::get_id(); });
    CHECK(other != loop);
    CHECK(std::this_thread::get_id() == loop);
    done.Notify();
  });
  done.Wait();
  CHECK(rounds == 1000);
}

TEST_CASE("beyond the limit work waits in order, and ends before the fibers do", "[unit]") {
  std::atomic<int> ended{0}, most{0}, now{0};
  std::vector<int> order;
  {
    Setting setting(3);
    for (int i = 0; i < 20; ++i) {
      setting.fibers.Run([&, i] {
        order.push_back(i);  // one thread runs them all
        if (++now > most) most = now.load();
        WaitPoint nobody;
        nobody.WaitUntil(RealClock().Now() + std::chrono::milliseconds(2));
        --now;
        ++ended;
      });
    }
  }
  CHECK(ended == 20);
  CHECK(most == 3);
  for (int i = 0; i < 20; ++i) CHECK(order[static_cast<size_t>(i)] == i);
}

TEST_CASE("pieces of work in parallel within a fiber, some of which fail to find room", "[unit]") {
  std::atomic<int> done{0};
  {
    Setting setting(2);
    for (int outer = 0; outer < 4; ++outer) {
      setting.fibers.Run([&] {
        InParallel(setting.fibers, 10, [&](size_t) {
          WaitPoint nobody;
          nobody.WaitUntil(RealClock().Now() + std::chrono::milliseconds(1));
          ++done;
        });
        ++done;
      });
    }
  }
  CHECK(done == 44);
}

TEST_CASE("fibers of several loops share the work, wake each other and stay where they are", "[unit]") {
  constexpr int kLoops = 3, kCount = 300;
  CurlTransport transport(kLoops);
  WorkerPool threads(8);
  std::atomic<int> begun{0}, strays{0}, ended{0}, beside{0};
  std::set<std::thread::id> seen;  // guarded by mutex
  std::mutex mutex;
  std::vector<std::unique_ptr<WaitPoint>> points;
  for (int i = 0; i < kCount; ++i) points.push_back(std::make_unique<WaitPoint>());
  {
    Fibers fibers(transport.loops(), threads);
    for (int i = 0; i < kCount; ++i) {
      fibers.Run([&, i] {
        const std::thread::id home = std::this_thread::get_id();
        {
          std::lock_guard lock(mutex);
          seen.insert(home);
        }
        ++begun;
        // Each is woken by the one before it, which mostly runs elsewhere.
        points[static_cast<size_t>(i)]->Wait();
        if (i + 1 < kCount) points[static_cast<size_t>(i) + 1]->Notify();
        strays += std::this_thread::get_id() != home;
        RunBlocking([] {});
        strays += std::this_thread::get_id() != home;
        WaitPoint nobody;
        nobody.WaitUntil(RealClock().Now() + std::chrono::milliseconds(1));
        strays += std::this_thread::get_id() != home;
        fibers.Soon([&, home] {
          beside += std::this_thread::get_id() == home && !OnFiber();
          ++ended;
        });
      });
    }
    while (begun < kCount) std::this_thread::yield();
    CHECK(fibers.active() == kCount);
    points.front()->Notify();
    while (ended < kCount) std::this_thread::yield();
  }
  CHECK(seen.size() == kLoops);
  CHECK(strays == 0);
  CHECK(beside == kCount);
}

TEST_CASE("exceptions are caught within a fiber, and stacks are deep enough to be used", "[unit]") {
  Setting setting;
  WaitPoint done;
  int caught = 0;
  setting.fibers.Run([&] {
    for (int i = 0; i < 10; ++i) {
      try {
        std::vector<int>().at(1);
      } catch (const std::out_of_range&) {
        ++caught;
      }
      WaitPoint nobody;
      nobody.WaitUntil(RealClock().Now() + std::chrono::milliseconds(1));
    }
    char deep[100'000];
    for (size_t at = 0; at < sizeof deep; at += 1000) const_cast<volatile char*>(deep)[at] = 1;
    done.Notify();
  });
  done.Wait();
  CHECK(caught == 10);
}

}  // namespace
}  // namespace warpsmith::gateway
