#include "gpu_worker/evaluate/device_turn.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "common/clock.h"

namespace warpsmith::evaluate {
namespace {

// Waits for its turn in a thread, notes its name and lets go.
class Waiter {
 public:
  Waiter(DeviceTurn& turn, const std::string& problem, const std::string& name, std::vector<std::string>& order) {
    int before = turn.waiting();
    thread_ = std::jthread([&turn, &order, problem, name](std::stop_token stop) {
      auto hold = turn.Take(problem, stop);
      if (hold) order.push_back(name);  // one holder at a time
    });
    while (turn.waiting() == before) std::this_thread::yield();
  }
  ~Waiter() { thread_.join(); }  // without the stop that a jthread asks for by itself
  void Stop() { thread_.request_stop(); }

 private:
  std::jthread thread_;
};

TEST_CASE("the problem that is loaded goes first, the others in order of arrival", "[unit]") {
  DeviceTurn turn;
  std::vector<std::string> order;
  {
    auto hold = turn.Take("a", {});
    Waiter b1(turn, "b", "b1", order), a1(turn, "a", "a1", order), b2(turn, "b", "b2", order),
        a2(turn, "a", "a2", order);
    hold.reset();
  }
  CHECK(order == std::vector<std::string>{"a1", "a2", "b1", "b2"});
}

TEST_CASE("nobody is passed over for ever", "[unit]") {
  DeviceTurn turn(2);
  std::vector<std::string> order;
  {
    auto hold = turn.Take("a", {});
    Waiter b(turn, "b", "b", order), a1(turn, "a", "a1", order), a2(turn, "a", "a2", order), a3(turn, "a", "a3", order);
    hold.reset();
  }
  CHECK(order == std::vector<std::string>{"a1", "a2", "b", "a3"});
}

TEST_CASE("who is called off leaves the queue", "[unit]") {
  DeviceTurn turn;
  std::vector<std::string> order;
  {
    auto hold = turn.Take("a", {});
    Waiter gone(turn, "a", "gone", order), stays(turn, "a", "stays", order);
    gone.Stop();
    while (turn.waiting() != 1) std::this_thread::yield();
    hold.reset();
  }
  CHECK(order == std::vector<std::string>{"stays"});
  CHECK(turn.Take("b", {}).has_value());
}

}  // namespace
}  // namespace warpsmith::evaluate
