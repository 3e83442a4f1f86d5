// The one figure that stands for samples of a time: their median, or where the clock's ticks are coarse beside it, a
// mean of all samples but outliers. The median of whole ticks is a whole tick: a kernel of 3.4 microseconds by a clock
// of half a microsecond is 3.0 or 3.5, and jumps from one to the other between two measurements. Samples begin at
// random places within a tick, so their mean is not rounded, and its error falls with their number. Threading: pure.
// Units: the samples'. Source of the method: dithering of quantised measurements (Widrow and Kollar, Quantization
// Noise, 2008); outliers are those outside a window around the median, of three robust standard deviations (1.4826
// times the median absolute deviation) or two and a half ticks, whichever is wider.
#ifndef WARPSMITH_GPU_WORKER_MEASURE_LOCATION_H_
#define WARPSMITH_GPU_WORKER_MEASURE_LOCATION_H_

#include <vector>

namespace warpsmith::measure {

// Ticks above this share of the median are coarse.
inline constexpr double kCoarseShare = 1e-3;

class Location {
 public:
  // Learns the clock and the window from `samples`.
  explicit Location(std::vector<double> samples);

  double value() const { return value_; }
  bool coarse() const { return coarse_; }
  // Standard error of value() over value(). No less than what samples that all showed the same tick leave open.
  double relative_error() const { return relative_error_; }
  // The same figure of other samples by the same clock, such as a resample. Reorders them. 0 of none.
  double Of(std::vector<double>& samples) const;

 private:
  double low_ = 0, high_ = 0;  // the window
  double value_ = 0;
  double relative_error_ = 0;
  bool coarse_ = false;
};

// The smallest step between samples, which are sorted; 0 where they show none. Steps of less than a hundred-thousandth
// of the median are the arithmetic's.
double TickOf(const std::vector<double>& sorted);

}  // namespace warpsmith::measure

#endif  // WARPSMITH_GPU_WORKER_MEASURE_LOCATION_H_
