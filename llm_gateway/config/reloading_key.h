// A model's key that can be exchanged while the gateway runs: its file is looked at before each call and read again
// when it has changed, or when Reload says so. A file that no longer holds a key does not take the old key away: the
// old one stays in use, and Problem says what is wrong.
// Threading: safe from any thread. Errors: as KeyOf; none of them holds any of the key.
#ifndef WARPSMITH_LLM_GATEWAY_CONFIG_RELOADING_KEY_H_
#define WARPSMITH_LLM_GATEWAY_CONFIG_RELOADING_KEY_H_

#include <sys/stat.h>

#include <mutex>
#include <string>

#include "llm_gateway/config/gateway_config.h"

namespace warpsmith::gateway {

class ReloadingKey {
 public:
  explicit ReloadingKey(ModelConfig config);  // reads it

  // Empty where the model needs none; an error only where there has never been a good key.
  absl::StatusOr<Secret> Get();
  // Reads it again, changed or not.
  void Reload();
  // Why the latest reading failed; OK where it did not.
  absl::Status Problem() const;

 private:
  void ReadLocked();
  struct stat Look() const;

  const ModelConfig config_;
  mutable std::mutex mutex_;
  absl::StatusOr<Secret> key_;  // guarded by mutex_
  absl::Status problem_;        // guarded by mutex_
  struct stat seen_ {};         // guarded by mutex_; of the file that was read last
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CONFIG_RELOADING_KEY_H_
