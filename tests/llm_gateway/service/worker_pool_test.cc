#include "llm_gateway/service/worker_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "llm_gateway/service/parallel.h"

namespace warpsmith::gateway {
namespace {

TEST_CASE("work that blocks gets a thread each, up to the limit, and all of it is done", "[unit]") {
  std::atomic<int> running{0}, most{0}, done{0};
  std::atomic<bool> go{false};
  {
    WorkerPool pool(20);
    for (int i = 0; i < 50; ++i) {
      pool.Run([&] {
        const int now = ++running;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        while (!go) std::this_thread::yield();
        --running;
        ++done;
      });
    }
    while (most < 20) std::this_thread::yield();
    CHECK(pool.threads() == 20);
    go = true;
  }
  CHECK(most == 20);
  CHECK(done == 50);
}

TEST_CASE("threads are used again, and go when there is nothing to do", "[unit]") {
  WorkerPool pool(100, std::chrono::milliseconds(50));
  std::atomic<int> done{0};
  for (int i = 0; i < 200; ++i) {
    pool.Run([&] { ++done; });
    while (done <= i) std::this_thread::yield();
  }
  CHECK(pool.threads() < 20);
  for (int i = 0; i < 200 && pool.threads() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(25));
  CHECK(pool.threads() == 0);
  pool.Run([&] { ++done; });
  while (done < 201) std::this_thread::yield();
}

TEST_CASE("pieces of work within work end though the pool is full", "[unit]") {
  WorkerPool pool(2);
  std::atomic<int> done{0}, ended{0};
  for (int outer = 0; outer < 4; ++outer) {
    pool.Run([&] {
      InParallel(pool, 10, [&](size_t) { ++done; });
      ++ended;
    });
  }
  while (ended < 4) std::this_thread::yield();
  CHECK(done == 40);
  InParallel(pool, 0, [&](size_t) { ++done; });
  CHECK(done == 40);
}

}  // namespace
}  // namespace warpsmith::gateway
