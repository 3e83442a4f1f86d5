// What becomes of a confirmation, and of a search's best that none confirmed.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_BANK_ADMISSION_H_
#define WARPSMITH_COORDINATOR_BANK_ADMISSION_H_

#include <string>

#include "coordinator/store/records.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::bank {

// An evaluation of stage "confirm" that was just recorded for a candidate.
struct ConfirmedRun {
  const store::SearchRecord& search;
  std::string candidate_id;
  int64_t evaluation_id = 0;
  const v1::Evaluation& evaluation;
  const v1::DeviceDescription& device;  // that it ran on
  int64_t now_us = 0;
};

// Admits the kernel where the confirmation is believed; ends its verification where it is one.
absl::Status RecordConfirmation(store::Transaction& transaction, const ConfirmedRun& run);

struct Harvest {
  int admitted = 0;  // kernels that were new
  int kernels = 0;   // all that the search confirmed
};

// At a search's end: what it brought. A best kernel that is not in the bank is put down as pending, with the reason; a
// verification that did not come to its end is given up.
absl::StatusOr<Harvest> CloseSearch(store::Transaction& transaction, const store::SearchRecord& search);

// Name of the strategy of searches that only verify.
inline constexpr char kVerifyStrategy[] = "verify";

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_ADMISSION_H_
