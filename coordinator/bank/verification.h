// Confirmations outside of any search for better kernels: of kernels in the bank, and of those that wait to come in.
// Each problem, class of device and set of accepted precisions gets a system search of strategy "verify": intake, then
// a confirmation of each kernel, then its end. Nobody proposes anything in it, and ordinary lists leave it out.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_BANK_VERIFICATION_H_
#define WARPSMITH_COORDINATOR_BANK_VERIFICATION_H_

#include <string>
#include <vector>

#include "coordinator/bank/kernel_store.h"
#include "coordinator/queue/task_queue.h"
#include "coordinator/store/records.h"
#include "warpsmith/v1/bank.pb.h"

namespace warpsmith::bank {

// Precision classes that a search accepts, in order; fp32 where it does not say.
std::vector<int> AcceptedOf(const v1::SearchSettings& settings);

struct VerificationOrder {
  std::string submitted_by;
  double intake_deadline_seconds = 900;
};

// Queues confirmations of what the filter means: kernels that are trusted, stale or unconfirmed, failed ones where they
// are named by id, pending ones where it asks for them. What is under verification already is counted, not queued
// again.
absl::StatusOr<v1::VerifyKernelsReply> QueueVerifications(store::Transaction& transaction, queue::TaskQueue& queue,
                                                          const v1::KernelFilter& filter,
                                                          const VerificationOrder& order);

// The same for pending kernels by id.
absl::StatusOr<v1::VerifyKernelsReply> QueuePending(store::Transaction& transaction, queue::TaskQueue& queue,
                                                    const std::vector<std::string>& pending_ids,
                                                    const VerificationOrder& order);

// Notes the revisions that an intake reported, and queues what a new one made stale of this problem: before the search
// can compare with it. Returns how many.
absl::StatusOr<int> RefreshIncumbents(store::Transaction& transaction, queue::TaskQueue& queue,
                                      const store::SearchRecord& search, const std::string& harness_rev,
                                      const VerificationOrder& order);

// What a verification's confirmation means for its kernel. `why`: why it is not believed; empty: it is.
absl::Status FinishVerification(store::Transaction& transaction, const KernelEntry& entry,
                                const v1::Evaluation& evaluation, int64_t evaluation_id, const Figures& figures,
                                const Revisions& newest, const std::string& why);

// A system search that has ended: what it did not verify stays as it was, with the reason.
absl::Status GiveUpVerifications(store::Transaction& transaction, const store::SearchRecord& search);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_VERIFICATION_H_
