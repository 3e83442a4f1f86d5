// Which revision of harness and judge is the newest on each class of device, and what an older one confirmed.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_BANK_REVISIONS_H_
#define WARPSMITH_COORDINATOR_BANK_REVISIONS_H_

#include <string>

#include "coordinator/bank/figures.h"
#include "coordinator/store/database.h"

namespace warpsmith::bank {

// Notes what a worker of the class reported and returns the newest known. A newer one than before makes every kernel of
// the class that an older one confirmed stale: it is no champion, and nothing is compared with it, until it is
// verified. Empty revisions are not taken.
absl::StatusOr<Revisions> NoteRevisions(store::Transaction& transaction, const std::string& device_class,
                                        const Revisions& seen);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_REVISIONS_H_
