#include "llm_gateway/config/reloading_key.h"

#include "common/log.h"

namespace warpsmith::gateway {
namespace {

// Links count too: secrets that an orchestrator mounts are exchanged by turning a link.
bool Same(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

ReloadingKey::ReloadingKey(ModelConfig config) : config_(std::move(config)), key_(Secret()) {
  seen_ = Look();
  key_ = KeyOf(config_);
  problem_ = key_.status();
}

struct stat ReloadingKey::Look() const {
  struct stat now {};
  if (config_.api_key_file.empty() || stat(config_.api_key_file.c_str(), &now) != 0) return {};
  return now;
}

void ReloadingKey::ReadLocked() {
  absl::StatusOr<Secret> fresh = KeyOf(config_);
  problem_ = fresh.status();
  if (fresh.ok()) {
    if (!key_.ok() || key_->Reveal() != fresh->Reveal()) spdlog::info("model {}: a new key is in use", config_.name);
    key_ = std::move(fresh);
  } else if (key_.ok()) {
    spdlog::warn("model {}: the key could not be read again, the old one stays in use: {}", config_.name,
                 Message(problem_));
  } else {
    key_ = std::move(fresh);
  }
}

absl::StatusOr<Secret> ReloadingKey::Get() {
  const struct stat now = Look();
  std::lock_guard lock(mutex_);
  if (!Same(now, seen_)) {
    seen_ = now;
    ReadLocked();
  }
  return key_;
}

void ReloadingKey::Reload() {
  std::lock_guard lock(mutex_);
  seen_ = Look();
  ReadLocked();
}

absl::Status ReloadingKey::Problem() const {
  std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace warpsmith::gateway
