// A FAKE gateway inside the load program: real gRPC on loopback, but no models. It answers at once, with ideas and
// kernels that are made up and all different. Threading: gRPC's own threads; the counters may be read at any time.
#ifndef WARPSMITH_BENCHMARKS_COORDINATOR_REPLAY_GATEWAY_H_
#define WARPSMITH_BENCHMARKS_COORDINATOR_REPLAY_GATEWAY_H_

#include <atomic>
#include <memory>
#include <string>

#include "common/status.h"

namespace warpsmith::bench {

class ReplayGateway {
 public:
  static absl::StatusOr<std::unique_ptr<ReplayGateway>> Start();
  ~ReplayGateway();
  std::string address() const;
  int64_t calls() const { return calls_; }

 private:
  class Service;
  struct Server;
  ReplayGateway();

  std::atomic<int64_t> calls_{0};
  std::unique_ptr<Service> service_;
  std::unique_ptr<Server> server_;
};

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_COORDINATOR_REPLAY_GATEWAY_H_
