// One connection to the coordinator: a bidirectional stream seen as messages in and out.
// Threading: Send and Close from any thread. The listener is called from the transport's threads and must only enqueue.
// Contract: OnClosed comes exactly once, last; after it the stream may be destroyed, from any thread but the
// listener's.
#ifndef WARPSMITH_GPU_WORKER_SESSION_COORDINATOR_STREAM_H_
#define WARPSMITH_GPU_WORKER_SESSION_COORDINATOR_STREAM_H_

#include <memory>
#include <string>

#include "common/status.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::session {

class StreamListener {
 public:
  virtual ~StreamListener() = default;
  virtual void OnMessage(v1::CoordinatorMessage message) = 0;
  virtual void OnClosed(const absl::Status& status) = 0;
};

class CoordinatorStream {
 public:
  virtual ~CoordinatorStream() = default;
  virtual void Send(v1::WorkerMessage message) = 0;
  virtual void Close() = 0;
};

class CoordinatorConnector {
 public:
  virtual ~CoordinatorConnector() = default;
  virtual std::unique_ptr<CoordinatorStream> Open(StreamListener& listener) = 0;
  // A blob by its SHA-256, verified. NotFound, or Unavailable while the coordinator is away.
  virtual absl::StatusOr<std::string> GetBlob(const std::string& sha256) = 0;
  // The status that a stream closed with, with its reason where it can be found out; may take seconds.
  virtual absl::Status Explain(const absl::Status& status) { return status; }
};

// `address` as common/grpc_channel.h takes it.
std::unique_ptr<CoordinatorConnector> MakeGrpcConnector(const std::string& address);

}  // namespace warpsmith::session

#endif  // WARPSMITH_GPU_WORKER_SESSION_COORDINATOR_STREAM_H_
