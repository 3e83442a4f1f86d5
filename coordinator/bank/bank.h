// The kernel bank as searches and operators read it.
// Threading: pure functions over a transaction.
#ifndef WARPSMITH_COORDINATOR_BANK_BANK_H_
#define WARPSMITH_COORDINATOR_BANK_BANK_H_

#include <string>
#include <vector>

#include "coordinator/store/records.h"
#include "warpsmith/v1/bank.pb.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::bank {

// Best first within a family, trusted and stale. Kernels of the emulated device are listed where their class is asked
// for, or where there are no others: never among a GPU's. Empty: any.
absl::StatusOr<std::vector<v1::BankKernel>> List(store::Transaction& transaction, const std::string& operator_family,
                                                 const std::string& problem, const std::string& device_class,
                                                 int limit);

// A kernel with its source, provenance and checks; by its whole id.
absl::StatusOr<v1::KernelDetail> Show(store::Transaction& transaction, const std::string& id);

// The whole id of a kernel of the bank, by its own or its candidate's; `pending_too`: or of what waits to come in.
absl::StatusOr<std::string> ResolveKernel(store::Transaction& transaction, const std::string& prefix, bool pending_too);

// The kernels that an export of this filter has, best first within a family. Those of the emulated device as in List.
absl::StatusOr<std::vector<std::string>> Select(store::Transaction& transaction, const v1::KernelFilter& filter);

absl::StatusOr<std::vector<v1::PendingKernel>> ListPending(store::Transaction& transaction, int limit);
absl::StatusOr<std::vector<v1::Verification>> ListVerifications(store::Transaction& transaction,
                                                                const std::vector<std::string>& search_ids, int limit);

// Chooses the kernels that a search may begin from, anew: of other problems of its operator family, on its class of
// device, with tensors like its own (seeds.h). Called when a round opens, so that a decision can be replayed from what
// the search kept.
absl::Status RefreshSeeds(store::Transaction& transaction, const std::string& search_id);
// The candidates chosen, best first.
absl::StatusOr<std::vector<std::string>> Seeds(store::Transaction& transaction, const std::string& search_id);
// The same for prompts, with ideas and sources.
absl::StatusOr<std::vector<v1::BankPattern>> Patterns(store::Transaction& transaction,
                                                      const store::SearchRecord& search, int limit);

// What a confirmation of `candidate_id` compares with.
struct Incumbent {
  std::string source_sha256;  // empty: there is none
  double median_ms = 0;
};
// The fastest trusted kernel of the same problem, class of device and accepted precision; else the search's best so
// far.
absl::StatusOr<Incumbent> FindIncumbent(store::Transaction& transaction, const store::SearchRecord& search,
                                        const std::string& candidate_id);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_BANK_H_
