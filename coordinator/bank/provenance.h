// Where a candidate came from, told once and kept with the kernel.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_BANK_PROVENANCE_H_
#define WARPSMITH_COORDINATOR_BANK_PROVENANCE_H_

#include <string>

#include "coordinator/store/records.h"
#include "warpsmith/v1/bank.pb.h"

namespace warpsmith::bank {

// `evaluation` is the one that its figures are of, `device` what it ran on. The chain begins with the first idea; it
// may go on into another search through a kernel of the bank, and is cut at 64 links.
absl::StatusOr<v1::KernelProvenance> TellProvenance(store::Transaction& transaction, const store::SearchRecord& search,
                                                    const std::string& candidate_id, const v1::Evaluation& evaluation,
                                                    const v1::DeviceDescription& device, int64_t now_us);

// What makes two reports of one find the same: search and candidate.
std::string OriginOf(const v1::KernelProvenance& provenance);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_PROVENANCE_H_
