// A search's report cut into messages.
// Threading: pure. Units: bytes, as protobuf writes messages.
#ifndef WARPSMITH_COORDINATOR_API_REPORT_PARTS_H_
#define WARPSMITH_COORDINATOR_API_REPORT_PARTS_H_

#include <cstddef>
#include <functional>

#include "warpsmith/v1/report.pb.h"

namespace warpsmith::api {

// Hands `report` on in parts of about `part_bytes`, in an order in which merging them gives the report back; until
// `send` returns false.
void SendInParts(v1::SearchReport report, size_t part_bytes, const std::function<bool(const v1::SearchReport&)>& send);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_REPORT_PARTS_H_
