// The kernel bank for people. Threading: pure.
#ifndef WARPSMITH_CLI_PRINT_BANK_H_
#define WARPSMITH_CLI_PRINT_BANK_H_

#include <string>

#include "warpsmith/v1/bank.pb.h"

namespace warpsmith::cli {

std::string BankText(const v1::ListKernelsReply& reply);
std::string PendingText(const v1::ListPendingReply& reply);
// All that is known of a kernel, its source last.
std::string KernelText(const v1::KernelDetail& detail);
std::string VerificationsText(const v1::ListVerificationsReply& reply);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PRINT_BANK_H_
