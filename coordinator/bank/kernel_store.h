// Kernels into the bank: one row a problem, device class and code, however many searches find it.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_BANK_KERNEL_STORE_H_
#define WARPSMITH_COORDINATOR_BANK_KERNEL_STORE_H_

#include <string>
#include <vector>

#include "coordinator/bank/figures.h"
#include "coordinator/store/database.h"
#include "warpsmith/v1/bank.pb.h"

namespace warpsmith::bank {

struct KernelEntry {
  std::string candidate_id;
  std::string search_id;  // the candidate's
  std::string problem_id;
  std::string problem_name;
  std::string operator_family;
  std::string device_class;
  bool emulated = false;
  std::string title;
  std::string source_sha256;
  std::string code_sha256;
  std::vector<int> accepted;
  bool frozen_weights = false;
};

struct StoredKernel {
  std::string id;
  bool fresh = false;  // false: its code was in the bank already
};

// A confirmation's place: what the figures are of.
struct CheckedBy {
  std::string search_id;
  int64_t evaluation_id = 0;
};

// Admits a kernel whose confirmation is believed, or adds its provenance to the one with the same code, which takes the
// figures too unless a newer revision confirmed it or a verification failed it.
absl::StatusOr<StoredKernel> StoreKernel(store::Transaction& transaction, const KernelEntry& entry,
                                         const v1::Evaluation& evaluation, const Figures& figures,
                                         const Revisions& newest, const CheckedBy& by,
                                         const std::vector<v1::KernelProvenance>& provenance);

// A verification's figures replace those that a kernel had; it is trusted if the newest revision took them.
absl::Status StoreMeasurement(store::Transaction& transaction, const std::string& kernel_id,
                              const std::string& module_sha256, const Figures& figures, const Revisions& newest);

absl::Status AddCheck(store::Transaction& transaction, const std::string& kernel_id, const CheckedBy& by,
                      const std::string& verdict, const std::string& message, const Figures& figures);

absl::Status AddProvenance(store::Transaction& transaction, const std::string& kernel_id,
                           const std::vector<v1::KernelProvenance>& provenance);

// What the bank keeps of its last confirmation. `row` is of the kernel table.
Figures FiguresOfRow(const store::Row& row);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_KERNEL_STORE_H_
