// The queue, its quarantine and the database, for people. Threading: pure.
#ifndef WARPSMITH_CLI_PRINT_QUEUE_H_
#define WARPSMITH_CLI_PRINT_QUEUE_H_

#include <string>

#include "warpsmith/v1/administration.pb.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::cli {

std::string QueueStatusText(const v1::ClusterStatus& status, const v1::DatabaseHealth& health);
std::string QuarantineText(const v1::ListQuarantinedReply& reply);
std::string RetryText(const v1::RetryQuarantinedReply& reply);
std::string DrainText(const v1::DrainWorkerReply& reply);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PRINT_QUEUE_H_
