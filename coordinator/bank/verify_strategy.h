// The strategy of system searches: confirms every kernel that was put into them, then ends. No rounds, no models.
// Threading: const.
#ifndef WARPSMITH_COORDINATOR_BANK_VERIFY_STRATEGY_H_
#define WARPSMITH_COORDINATOR_BANK_VERIFY_STRATEGY_H_

#include <string>
#include <vector>

#include "coordinator/search/strategy.h"

namespace warpsmith::bank {

class VerifyStrategy final : public search::Strategy {
 public:
  std::string name() const override;
  std::vector<search::Action> Next(const search::Snapshot& snapshot, uint64_t decision_seq, uint64_t seed,
                                   int64_t now_us, const search::Capacity& capacity) const override;
};

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_VERIFY_STRATEGY_H_
