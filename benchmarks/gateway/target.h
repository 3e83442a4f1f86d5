// What a benchmark of the gateway asks: the model server itself, the model through the gateway's layers in this
// process, or through the gateway's RPC. Every target makes the same request for the same answer. Threading: Start is
// safe from any thread; `done` is called from some thread of the target's, and may call Start.
#ifndef WARPSMITH_BENCHMARKS_GATEWAY_TARGET_H_
#define WARPSMITH_BENCHMARKS_GATEWAY_TARGET_H_

#include <functional>
#include <memory>
#include <string>

#include "common/status.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::bench {

struct Outcome {
  bool ok = false;
  double first_seconds = 0;  // until the first byte of the answer's body, where the target sees it
  double seconds = 0;
};

class Target {
 public:
  virtual ~Target() = default;
  virtual std::string name() const = 0;
  // `stream`: of the slow answers, not the one that comes at once.
  virtual void Start(bool stream, std::function<void(const Outcome&)> done) = 0;
};

v1::ImplementIdeaRequest BenchmarkRequest();

std::unique_ptr<Target> DirectTarget(int port, const std::string& body);

// GuardedModel over HttpModel, with every limit that is configured; also gives the body that it sends, for the others.
struct InProcess {
  std::unique_ptr<Target> target;
  std::string body;
};
absl::StatusOr<InProcess> InProcessTarget(const std::string& config_file);

// Through the gateway's RPC: a stream of its own for each call, or all calls over one.
inline constexpr char kRpc[] = "gRPC";
inline constexpr char kOneStream[] = "one stream";
std::unique_ptr<Target> RpcTarget(const std::string& address);
std::unique_ptr<Target> OneStreamTarget(const std::string& address);

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_GATEWAY_TARGET_H_
