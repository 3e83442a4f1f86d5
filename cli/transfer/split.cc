#include "cli/transfer/split.h"

#include <algorithm>
#include <cmath>

#include "common/hash.h"

namespace warpsmith::transfer {

bool HeldOut(const SplitRules& rules, const v1::Problem& problem) {
  const std::string sha256 = Sha256Hex(problem.source());
  return std::any_of(rules.held_out.begin(), rules.held_out.end(), [&](const std::string& name) {
    return name == problem.name() || name == problem.name() + ".py" || name == problem.id() || name == sha256;
  });
}

std::string SplitOf(const SplitRules& rules, const v1::Problem& problem) {
  // Apart from other uses of the same hash; the top 53 bits are a number in [0, 1).
  const uint64_t hash = Sha256Prefix("warpsmith split\n" + Sha256Hex(problem.source()));
  return std::ldexp(static_cast<double>(hash >> 11), -53) < rules.validation_share ? "validation" : "train";
}

}  // namespace warpsmith::transfer
