#include "common/metrics/telemetry.h"

#include <prometheus/text_serializer.h>

#include <iterator>

namespace warpsmith::metrics {

void Telemetry::Add(const std::shared_ptr<prometheus::Collectable>& collectable) {
  const std::lock_guard lock(mutex_);
  collectables_.push_back(collectable);
}

std::string Telemetry::Page() const {
  std::vector<std::weak_ptr<prometheus::Collectable>> collectables;
  {
    const std::lock_guard lock(mutex_);
    collectables = collectables_;
  }
  std::vector<prometheus::MetricFamily> families = registry_.Collect();
  for (const auto& weak : collectables) {
    const std::shared_ptr<prometheus::Collectable> collectable = weak.lock();
    if (!collectable) continue;
    std::vector<prometheus::MetricFamily> more = collectable->Collect();
    families.insert(families.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  std::erase_if(families, [](const prometheus::MetricFamily& family) { return family.metric.empty(); });
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace warpsmith::metrics
