// Replies by what makes a call the same call, kept so that none is paid for twice: a reply is stored before anybody
// sees it, a repeated call gets what is stored, and a second one that comes while the first runs waits for it. With a
// folder, replies outlive the process, one file each, written whole or not at all; without, they stay in memory.
// Threading: safe from any thread. Units: bytes, Durations. Errors: Open names the folder. A file that is torn or not
// ours is set aside and counts as missing; a reply that cannot be written (a full disk) is kept in memory and logged.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_REPLY_STORE_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_REPLY_STORE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "common/clock.h"
#include "common/status.h"
#include "llm_gateway/async/wait_point.h"
#include "llm_gateway/http/cancellation.h"

namespace warpsmith::gateway {

struct ReplyStoreOptions {
  std::filesystem::path folder;  // empty: memory only
  Duration max_age = std::chrono::hours(24 * 7);
  int64_t max_bytes = 1 << 30;         // on disk; the oldest go first
  int64_t max_memory_bytes = 8 << 20;  // of replies that are not on disk, or were read lately
};

class ReplyStore {
 public:
  struct Made {
    std::string bytes;
    bool keep = false;  // false: a failure, which the next call tries again
  };
  struct Reply {
    std::string bytes;
    bool stored = false;  // by an earlier call
  };

  static absl::StatusOr<std::unique_ptr<ReplyStore>> Open(ReplyStoreOptions options, Clock& clock);

  // The stored reply of `key`, or what `make` makes, stored first. Cancelled where `cancellation` ends the wait for
  // another call that makes it. An empty key is no key: `make` runs and nothing is stored.
  absl::StatusOr<Reply> Once(const std::string& key, Cancellation& cancellation, const std::function<Made()>& make);
  std::optional<std::string> Find(const std::string& key);

  int64_t bytes() const;  // on disk

 private:
  struct Entry {
    int64_t bytes = 0;
    int64_t stored_at_us = 0;
    std::optional<std::string> memory;
    bool on_disk = false;
    std::list<std::string>::iterator place;  // in order_
  };

  ReplyStore(ReplyStoreOptions options, Clock& clock) : options_(std::move(options)), clock_(clock) {}
  absl::Status Scan();
  std::filesystem::path PathOf(const std::string& id) const;
  std::optional<std::string> FindLocked(std::unique_lock<std::mutex>& lock, const std::string& id);
  void Store(const std::string& id, const std::string& bytes);
  void AddLocked(const std::string& id, Entry entry);
  void RemoveLocked(const std::string& id, bool also_file);
  void PruneLocked();

  const ReplyStoreOptions options_;
  Clock& clock_;
  mutable std::mutex mutex_;
  WaitList changed_;                                // guarded by mutex_; the end of one that runs
  std::set<std::string> running_;                   // guarded by mutex_; ids that are being made
  std::unordered_map<std::string, Entry> entries_;  // guarded by mutex_; by id, the key's sha256
  std::list<std::string> order_;                    // guarded by mutex_; the oldest first
  int64_t disk_bytes_ = 0;                          // guarded by mutex_
  int64_t memory_bytes_ = 0;                        // guarded by mutex_
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_REPLY_STORE_H_
