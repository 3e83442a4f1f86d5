// The operator's side of BankService. gRPC stays inside.
// Threading: one thread at a time. Errors: the coordinator's own; Unavailable says where it was looked for.
#ifndef WARPSMITH_CLI_BANK_CLIENT_H_
#define WARPSMITH_CLI_BANK_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/bank.pb.h"

namespace warpsmith::cli {

inline constexpr size_t kMaxArchiveFile = 256u << 20;

class BankClient {
 public:
  explicit BankClient(std::string address);
  ~BankClient();

  absl::StatusOr<v1::KernelDetail> GetKernel(const std::string& kernel_id);
  absl::StatusOr<v1::ListPendingReply> ListPending(int limit);
  absl::StatusOr<v1::VerifyKernelsReply> VerifyKernels(const v1::VerifyKernelsRequest& request);
  // Of these searches, however many they are.
  absl::StatusOr<v1::ListVerificationsReply> ListVerifications(const std::vector<std::string>& search_ids);
  // The whole archive. ResourceExhausted where it is larger than an import takes.
  absl::StatusOr<std::string> Export(const v1::KernelFilter& filter);
  absl::StatusOr<v1::ImportKernelsReply> Import(const std::string& archive, const std::string& device_class,
                                                const std::string& submitted_by);

 private:
  struct Stub;
  template <typename Reply, typename Request, typename Method>
  absl::StatusOr<Reply> Call(Method method, const Request& request);

  const std::string address_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_BANK_CLIENT_H_
