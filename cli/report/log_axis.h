// A logarithmic axis: where a value stands, and which values get a tick.
// Threading: a plain value. Units: the values' own; positions run from 0 (least) to 1.
#ifndef WARPSMITH_CLI_REPORT_LOG_AXIS_H_
#define WARPSMITH_CLI_REPORT_LOG_AXIS_H_

#include <vector>

namespace warpsmith::cli::report {

class LogAxis {
 public:
  // Takes in one more value. What is not a positive number is left out.
  void Include(double value);
  // After the last Include: widens the axis to `least_factor` between its ends at least, and leaves some air.
  void Finish(double least_factor = 1.6);

  bool empty() const { return !(low_ > 0); }
  double low() const { return low_; }
  double high() const { return high_; }
  double Position(double value) const;
  // Round values, rising; about `wanted`.
  std::vector<double> Ticks(int wanted = 6) const;

 private:
  double low_ = 0;
  double high_ = 0;
};

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_LOG_AXIS_H_
