// A candidate as a row of the AI CUDA Engineer Archive's columns. Times are milliseconds.
// Threading: pure functions.
#ifndef WARPSMITH_CLI_TRANSFER_ARCHIVE_ROW_H_
#define WARPSMITH_CLI_TRANSFER_ARCHIVE_ROW_H_

#include "common/json.h"
#include "warpsmith/v1/export.pb.h"

namespace warpsmith::transfer {

// Columns that warpsmith has nothing for are null.
Json ArchiveRow(const v1::ExportedSearch& search, const v1::ExportedCandidate& candidate);

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_ARCHIVE_ROW_H_
