// Batches for people: a table of the problems, and what all of them come to.
// Threading: pure. Lines have at most 100 columns. Ratios of the emulated device are labelled.
#ifndef WARPSMITH_CLI_PRINT_BATCH_H_
#define WARPSMITH_CLI_PRINT_BATCH_H_

#include <string>

#include "warpsmith/v1/batch.pb.h"

namespace warpsmith::cli {

std::string BatchText(const v1::Batch& batch);
// One line on how it stands.
std::string BatchLine(const v1::Batch& batch);
std::string BatchesText(const v1::ListBatchesReply& reply);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PRINT_BATCH_H_
