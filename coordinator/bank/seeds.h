// Which kernels of other problems a search may learn from: same operator family, tensors like its own.
// Threading: pure. Units: a distance of 1 is about a factor of 2 in every tensor's size; log ratios are natural.
#ifndef WARPSMITH_COORDINATOR_BANK_SEEDS_H_
#define WARPSMITH_COORDINATOR_BANK_SEEDS_H_

#include <string>
#include <vector>

#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::bank {

struct Neighbour {
  std::string kernel_id;
  std::string problem_id;
  v1::ProblemSignature signature;
  double log_ratio = 0;  // reference over kernel: larger is faster
  bool trusted = true;   // false: confirmed by an older revision
};

// How unlike two problems of one family are: the tensors of each role are compared in order by the logarithm of their
// sizes, their dimensions from the innermost one, rank and type; a tensor that the other problem lacks counts too.
// Symmetric, 0 for equal signatures, finite.
double Distance(const v1::ProblemSignature& a, const v1::ProblemSignature& b);

// At most `limit` of other problems, one a problem (its fastest): the near ones, the fastest of them first. Near are
// the nearest 3 × limit. Confirmations by an older revision come after all others, since their ratios do not compare.
std::vector<Neighbour> ChooseSeeds(const std::string& problem_id, const v1::ProblemSignature& signature,
                                   std::vector<Neighbour> neighbours, size_t limit);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_SEEDS_H_
