// The way back to one worker. Threading: safe from any thread; calls never block.
#ifndef WARPSMITH_COORDINATOR_ENGINE_WORKER_CONNECTION_H_
#define WARPSMITH_COORDINATOR_ENGINE_WORKER_CONNECTION_H_

#include <string>
#include <utility>
#include <vector>

#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::engine {

class WorkerConnection {
 public:
  virtual ~WorkerConnection() = default;
  // Puts it into the outbound queue; over the queue's cap the stream is closed instead, which level-triggered state
  // makes safe.
  virtual void Send(v1::CoordinatorMessage message) = 0;
  // In this order; on the wire they may go together.
  virtual void SendAll(std::vector<v1::CoordinatorMessage> messages) {
    for (v1::CoordinatorMessage& message : messages) Send(std::move(message));
  }
  virtual void Close(const std::string& why) = 0;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_WORKER_CONNECTION_H_
