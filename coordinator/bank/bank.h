// The kernel bank: what searches leave behind for later ones.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_BANK_BANK_H_
#define WARPSMITH_COORDINATOR_BANK_BANK_H_

#include <string>
#include <vector>

#include "coordinator/store/records.h"
#include "warpsmith/v1/gateway.pb.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::bank {

// Admits the search's best kernel (the champion) and the best correct one of each round. Returns how many are new.
absl::StatusOr<int> Admit(store::Transaction& transaction, const store::SearchRecord& search);

// Best first within a family. Kernels of the emulated device are listed where their class is asked for, or where there
// are no others: never among a GPU's.
absl::StatusOr<std::vector<v1::BankKernel>> List(store::Transaction& transaction, const std::string& operator_family,
                                                 const std::string& device_class, int limit);

// The best kernels of other problems of the search's operator family on its kind of device, at most one a problem.
absl::StatusOr<std::vector<v1::BankPattern>> Patterns(store::Transaction& transaction,
                                                      const store::SearchRecord& search, int limit);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_BANK_H_
