// Reads the recording of a search: what `warpsmith simulate` replays.
// Threading: a pure function over a transaction. Errors: NotFound names the search.
#ifndef WARPSMITH_COORDINATOR_REPLAY_RECORDING_H_
#define WARPSMITH_COORDINATOR_REPLAY_RECORDING_H_

#include "coordinator/store/records.h"
#include "warpsmith/v1/recording.pb.h"

namespace warpsmith::replay {

absl::StatusOr<v1::Recording> ReadRecording(store::Transaction& transaction, const std::string& search_id);

}  // namespace warpsmith::replay

#endif  // WARPSMITH_COORDINATOR_REPLAY_RECORDING_H_
