#include "coordinator/engine/model_directory.h"

namespace warpsmith::engine {
namespace {

constexpr Duration kFresh = std::chrono::minutes(1);
constexpr double kPatienceSeconds = 10;

}  // namespace

absl::StatusOr<std::shared_ptr<const v1::ListModelsReply>> ModelDirectory::Get() {
  {
    std::lock_guard lock(mutex_);
    if (models_ != nullptr && clock_.Now() - asked_ < kFresh) return models_;
  }
  const TimePoint asked = clock_.Now();
  auto reply = gateway_.ListModels(kPatienceSeconds);
  if (!reply.ok()) return reply.status();
  auto models = std::make_shared<const v1::ListModelsReply>(*std::move(reply));
  std::lock_guard lock(mutex_);
  models_ = models;
  asked_ = asked;
  return std::shared_ptr<const v1::ListModelsReply>(models);
}

void ModelDirectory::Forget() {
  std::lock_guard lock(mutex_);
  models_ = nullptr;
}

}  // namespace warpsmith::engine
