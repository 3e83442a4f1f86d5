// The cluster for people. Threading: pure. Lines have at most 100 columns.
#ifndef WARPSMITH_CLI_PRINT_CLUSTER_H_
#define WARPSMITH_CLI_PRINT_CLUSTER_H_

#include <string>

#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::cli {

std::string StatusText(const v1::ClusterStatus& status, const std::string& address);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PRINT_CLUSTER_H_
