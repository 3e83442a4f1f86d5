// What library steps must compute, in float64 on the host, straight from their definitions.
// Threading: pure functions. Units: elements.
#ifndef WARPSMITH_TESTS_GPU_LIBRARY_REFERENCE_H_
#define WARPSMITH_TESTS_GPU_LIBRARY_REFERENCE_H_

#include <vector>

#include "gpu_worker/library/library_call.h"

namespace warpsmith::library {

using Values = std::vector<double>;

// `c` is C before the call; the result is all of C, gaps between columns included.
Values ReferenceGemm(const GemmCall& call, const Values& a, const Values& b, Values c);
Values ReferenceConvolution(const ConvolutionCall& call, const Values& x, const Values& w, Values y);
Values ReferenceAttention(const AttentionCall& call, const Values& q, const Values& k, const Values& v);

struct Difference {
  double rms = 0;      // of the errors, over the expected values' RMS
  double largest = 0;  // over the same
};
Difference Compare(const Values& expected, const Values& got);

}  // namespace warpsmith::library

#endif  // WARPSMITH_TESTS_GPU_LIBRARY_REFERENCE_H_
