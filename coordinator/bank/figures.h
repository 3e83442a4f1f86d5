// What a confirmation says, and whether it may be believed. Threading: pure. Units: milliseconds; ratios are the
// reference's time over the kernel's.
#ifndef WARPSMITH_COORDINATOR_BANK_FIGURES_H_
#define WARPSMITH_COORDINATOR_BANK_FIGURES_H_

#include <string>

#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::bank {

// Of which harness took times and which judge judged.
struct Revisions {
  std::string harness;
  std::string judge;
};

// Either one is older.
bool Older(const Revisions& revisions, const Revisions& than);

struct Figures {
  double median_ms = 0;
  double ratio_to_eager = 0;
  double log_ratio = 0;  // of the ratio to the reference; comparable between boards
  double ratio = 0;      // confirmed, with its interval; 0: no confirmation against the reference (emulated device)
  double ratio_low = 0;
  double ratio_high = 0;
  v1::PrecisionClass precision_class = v1::PRECISION_CLASS_UNSPECIFIED;
  Revisions revisions;
  std::string device_name;
};

// `log_ratio` is what the search keeps of the evaluation; a confirmed ratio goes before it.
Figures FiguresOf(const v1::Evaluation& evaluation, double log_ratio);

// Why an evaluation of stage "confirm" does not admit its kernel; empty: it does. On a GPU a ratio with an interval is
// asked for. The emulated device takes none without an incumbent: its kernels are in a part of the bank of their own.
std::string WhyNotAdmitted(const v1::ProblemSignature& signature, const v1::Evaluation& evaluation,
                           const std::string& device_class, bool emulated, const v1::DeviceDescription& device);

// How a new confirmation compares with the one before. Times by different harnesses are not compared.
struct Comparison {
  std::string verdict;  // confirmed, drifted, remeasured
  std::string message;
};
Comparison Compare(const Figures& before, const Figures& now, bool emulated);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_FIGURES_H_
