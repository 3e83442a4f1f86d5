#include "cli/report/log_axis.h"

#include <catch2/catch.hpp>

#include "cli/report/plot_parts.h"

namespace warpsmith::cli::report {
namespace {

TEST_CASE("an axis holds all that it was given, and no zero", "[unit]") {
  LogAxis axis;
  CHECK(axis.empty());
  axis.Include(0);
  axis.Include(-1);
  CHECK(axis.empty());
  CHECK(axis.Ticks().empty());
  axis.Include(0.1);
  axis.Include(10);
  axis.Finish();
  CHECK(axis.Position(0.1) > 0);
  CHECK(axis.Position(0.1) < 0.1);
  CHECK(axis.Position(1) == Approx(0.5));
  CHECK(axis.Position(10) < 1);
  const std::vector<double> ticks = axis.Ticks();
  CHECK(ticks.size() >= 3);
  CHECK(std::find_if(ticks.begin(), ticks.end(), [](double tick) { return tick == Approx(1); }) != ticks.end());
}

TEST_CASE("ticks lie inside, rise and are few, whatever the span", "[unit]") {
  for (const double low : {1e-6, 0.013, 0.97, 3.0, 1e12}) {
    for (const double factor : {1.0, 1.05, 1.7, 4.0, 30.0, 1e4, 1e9}) {
      LogAxis axis;
      axis.Include(low);
      axis.Include(low * factor);
      axis.Finish();
      const std::vector<double> ticks = axis.Ticks();
      INFO(low << " × " << factor);
      CHECK(ticks.size() >= 2);
      CHECK(ticks.size() <= 12);
      for (size_t i = 0; i < ticks.size(); ++i) {
        CHECK(ticks[i] >= axis.low() * 0.999);
        CHECK(ticks[i] <= axis.high() * 1.001);
        if (i > 0) CHECK(ticks[i] > ticks[i - 1]);
      }
    }
  }
}

TEST_CASE("ticks are short", "[unit]") {
  CHECK(TickText(0.5, "×") == "0.5×");
  CHECK(TickText(1, "×") == "1×");
  CHECK(TickText(2000, "") == "2k");
  CHECK(TickText(6.7e13, "") == "67T");
  CHECK(ScaledText(4.8e12, "B/s") == "4.8 TB/s");
}

TEST_CASE("labels keep their distance and their order", "[unit]") {
  const std::vector<double> spread = Spread({100, 98, 50, 101}, 10);
  CHECK(spread[3] == 101);
  CHECK(spread[0] == 91);
  CHECK(spread[1] == 81);
  CHECK(spread[2] == 50);
}

}  // namespace
}  // namespace warpsmith::cli::report
