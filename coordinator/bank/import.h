// Kernels of an archive on their way into the bank: they wait until a device of this cluster has confirmed them.
// Threading: stateless; runs its own transactions, each of a part of the archive. The same archive again changes
// nothing.
#ifndef WARPSMITH_COORDINATOR_BANK_IMPORT_H_
#define WARPSMITH_COORDINATOR_BANK_IMPORT_H_

#include <string>
#include <vector>

#include "coordinator/bank/verification.h"
#include "coordinator/queue/task_queue.h"
#include "coordinator/store/database.h"
#include "warpsmith/v1/bank.pb.h"

namespace warpsmith::bank {

struct ImportOrder {
  std::string device_class;  // verify for this class; empty: the archive's own
  VerificationOrder verification;
  int64_t now_us = 0;
};

// `kernels` as ArchiveReader has checked them.
absl::StatusOr<v1::ImportKernelsReply> Import(store::Database& database, queue::TaskQueue& queue,
                                              const std::vector<v1::ArchivedKernel>& kernels, const ImportOrder& order);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_IMPORT_H_
