#include "llm_gateway/limits/circuit_breaker.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace warpsmith;
using namespace warpsmith::gateway;

namespace {

constexpr CircuitPolicy kPolicy{3, std::chrono::seconds(30), std::chrono::seconds(100)};

void Fail(CircuitBreaker& circuit, int times, ErrorClass error = ErrorClass::kServer) {
  for (int i = 0; i < times; ++i) {
    auto permit = circuit.Ask();
    REQUIRE(permit);
    circuit.Report(std::move(*permit), error);
  }
}

}  // namespace

TEST_CASE("a circuit opens after failures in a row and says why", "[unit]") {
  FakeClock clock;
  CircuitBreaker circuit(kPolicy, clock);
  Fail(circuit, 2);
  Fail(circuit, 1, ErrorClass::kNone);
  Fail(circuit, 2, ErrorClass::kConnect);
  CHECK(circuit.state() == CircuitState::kClosed);
  CHECK(circuit.WhyNot().empty());
  Fail(circuit, 1, ErrorClass::kFirstByteTimeout);
  CHECK(circuit.state() == CircuitState::kOpen);
  CHECK_FALSE(circuit.Ask());
  CHECK_THAT(circuit.WhyNot(), Catch::Contains("3 times in a row") && Catch::Contains("first_byte_timeout") &&
                                   Catch::Contains("in 30 s"));
}

TEST_CASE("which failures open a circuit", "[unit]") {
  FakeClock clock;
  using E = ErrorClass;
  for (E ill : {E::kConnect, E::kTls, E::kFirstByteTimeout, E::kIdleTimeout, E::kTotalTimeout, E::kCut, E::kQuota,
                E::kServer, E::kOverloaded, E::kAuthentication, E::kNotFound, E::kMalformedReply, E::kRedirect}) {
    INFO(Name(ill));
    CircuitBreaker circuit(kPolicy, clock);
    Fail(circuit, 3, ill);
    CHECK(circuit.state() == CircuitState::kOpen);
  }
  for (E other : {E::kNone, E::kRateLimited, E::kContextLength, E::kInvalidRequest, E::kTooLarge, E::kCancelled,
                  E::kConfiguration, E::kBudget, E::kOwnRateLimit, E::kCircuitOpen, E::kNotRecorded}) {
    INFO(Name(other));
    CircuitBreaker circuit(kPolicy, clock);
    Fail(circuit, 50, other);
    CHECK(circuit.state() == CircuitState::kClosed);
  }
}

TEST_CASE("one probe at a time finds out whether the model is well", "[unit]") {
  FakeClock clock;
  CircuitBreaker circuit(kPolicy, clock);
  Fail(circuit, 3);
  clock.Advance(std::chrono::seconds(30));
  CHECK(circuit.state() == CircuitState::kHalfOpen);
  CHECK(circuit.WhyNot().empty());
  auto probe = circuit.Ask();
  REQUIRE(probe);
  CHECK_FALSE(circuit.Ask());
  CHECK_THAT(circuit.WhyNot(), Catch::Contains("one call is finding out"));

  SECTION("well") {
    circuit.Report(std::move(*probe), ErrorClass::kNone);
    CHECK(circuit.state() == CircuitState::kClosed);
    Fail(circuit, 2);
    CHECK(circuit.state() == CircuitState::kClosed);
  }
  SECTION("an error that is the caller's shows that the model is there") {
    circuit.Report(std::move(*probe), ErrorClass::kInvalidRequest);
    CHECK(circuit.state() == CircuitState::kClosed);
  }
  SECTION("ill: open for twice as long, up to the longest") {
    circuit.Report(std::move(*probe), ErrorClass::kServer);
    for (int seconds : {60, 100, 100}) {
      CHECK(circuit.state() == CircuitState::kOpen);
      clock.Advance(std::chrono::seconds(seconds) - std::chrono::milliseconds(1));
      CHECK(circuit.state() == CircuitState::kOpen);
      clock.Advance(std::chrono::milliseconds(1));
      Fail(circuit, 1);
    }
  }
  SECTION("given up: the next call may find out") {
    probe.reset();
    CHECK(circuit.state() == CircuitState::kHalfOpen);
    CHECK(circuit.Ask());
  }
  SECTION("cancelled: likewise") {
    circuit.Report(std::move(*probe), ErrorClass::kCancelled);
    CHECK(circuit.Ask());
  }
}

TEST_CASE("calls that began before a change do not count after it", "[unit]") {
  FakeClock clock;
  CircuitBreaker circuit(kPolicy, clock);
  std::vector<CircuitBreaker::Permit> many;
  for (int i = 0; i < 20; ++i) many.push_back(std::move(*circuit.Ask()));
  auto report = [&](ErrorClass outcome) {
    circuit.Report(std::move(many.back()), outcome);
    many.pop_back();
  };
  for (int i = 0; i < 10; ++i) report(ErrorClass::kServer);
  CHECK(circuit.state() == CircuitState::kOpen);
  report(ErrorClass::kNone);
  CHECK(circuit.state() == CircuitState::kOpen);
  clock.Advance(std::chrono::seconds(30));
  auto probe = circuit.Ask();
  circuit.Report(std::move(*probe), ErrorClass::kNone);
  while (!many.empty()) report(ErrorClass::kServer);
  CHECK(circuit.state() == CircuitState::kClosed);
}
