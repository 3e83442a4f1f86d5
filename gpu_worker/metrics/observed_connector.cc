#include "gpu_worker/metrics/observed_connector.h"

#include <utility>

namespace warpsmith::metrics {
namespace {

class ObservedStream final : public session::CoordinatorStream, private session::StreamListener {
 public:
  ObservedStream(session::CoordinatorConnector& connector, session::StreamListener& listener,
                 std::shared_ptr<std::atomic<bool>> connected)
      : listener_(listener), connected_(std::move(connected)), stream_(connector.Open(*this)) {}
  ~ObservedStream() override { stream_.reset(); }  // OnClosed comes before it is gone

  void Send(v1::WorkerMessage message) override { stream_->Send(std::move(message)); }
  void Close() override { stream_->Close(); }

 private:
  void OnMessage(v1::CoordinatorMessage message) override {
    if (message.has_welcome()) *connected_ = true;
    listener_.OnMessage(std::move(message));
  }
  void OnClosed(const absl::Status& status) override {
    *connected_ = false;
    listener_.OnClosed(status);
  }

  session::StreamListener& listener_;
  const std::shared_ptr<std::atomic<bool>> connected_;
  std::unique_ptr<session::CoordinatorStream> stream_;
};

}  // namespace

std::unique_ptr<session::CoordinatorStream> ObservedConnector::Open(session::StreamListener& listener) {
  return std::make_unique<ObservedStream>(connector_, listener, connected_);
}

}  // namespace warpsmith::metrics
