// A CoordinatorConnector that knows whether the coordinator has answered on the open stream.
// Threading: as CoordinatorConnector.
#ifndef WARPSMITH_GPU_WORKER_METRICS_OBSERVED_CONNECTOR_H_
#define WARPSMITH_GPU_WORKER_METRICS_OBSERVED_CONNECTOR_H_

#include <atomic>
#include <memory>
#include <string>

#include "gpu_worker/session/coordinator_stream.h"

namespace warpsmith::metrics {

class ObservedConnector final : public session::CoordinatorConnector {
 public:
  explicit ObservedConnector(session::CoordinatorConnector& connector) : connector_(connector) {}

  std::unique_ptr<session::CoordinatorStream> Open(session::StreamListener& listener) override;
  absl::StatusOr<std::string> GetBlob(const std::string& sha256) override { return connector_.GetBlob(sha256); }
  absl::Status Explain(const absl::Status& status) override { return connector_.Explain(status); }

  bool connected() const { return *connected_; }

 private:
  session::CoordinatorConnector& connector_;
  const std::shared_ptr<std::atomic<bool>> connected_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_GPU_WORKER_METRICS_OBSERVED_CONNECTOR_H_
