#include "gpu_worker/evaluate/slices.h"

#include <algorithm>
#include <string>

#include "common/hash.h"

namespace warpsmith::evaluate {
namespace {

// Seeds of a slice's inputs are counted up from its own; they stay positive, and exact as a JSON number anywhere.
constexpr uint64_t kSeedMask = (uint64_t{1} << 50) - 1;

}  // namespace

Entropy SystemEntropy() {
  return [] { return std::stoull(RandomHex(8), nullptr, 16); };
}

Slices::Slice Slices::Next(const std::string& problem_id) {
  Slice slice;
  slice.fresh = left_ <= 0 || problem_id_ != problem_id || clock_.Now() - begun_ > age_;
  if (slice.fresh) {
    problem_id_ = problem_id;
    seed_ = static_cast<int64_t>(entropy_() & kSeedMask);
    left_ = std::max(candidates_, 1);
    begun_ = clock_.Now();
  }
  --left_;
  slice.seed = seed_;
  return slice;
}

}  // namespace warpsmith::evaluate
