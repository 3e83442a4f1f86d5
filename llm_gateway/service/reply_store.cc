#include "llm_gateway/service/reply_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "common/file.h"
#include "common/hash.h"
#include "common/log.h"
#include "llm_gateway/service/reply_file.h"

namespace warpsmith::gateway {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".reply";
constexpr size_t kMaxSetAside = 100;

// Out of the way but not away: somebody may want to know how it came about.
void SetAside(const fs::path& folder, const fs::path& file, const absl::Status& why) {
  const fs::path torn = folder / "torn";
  std::error_code error;
  fs::create_directories(torn, error);
  if (EntriesOf(torn).size() < kMaxSetAside) {
    fs::rename(file, torn / file.filename(), error);
  } else {
    fs::remove(file, error);
  }
  spdlog::warn("a stored reply cannot be used and was set aside in {}: {}", torn.string(), Message(why));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplyStore>> ReplyStore::Open(ReplyStoreOptions options, Clock& clock) {
  std::unique_ptr<ReplyStore> store(new ReplyStore(std::move(options), clock));
  if (!store->options_.folder.empty()) WARPSMITH_RETURN_IF_ERROR(store->Scan());
  return store;
}

absl::Status ReplyStore::Scan() {
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (error) {
    return FailedPrecondition(fmt::format("cannot make {}: {}; give a folder that can be written to with --data-dir",
                                          options_.folder.string(), error.message()));
  }
  fs::permissions(options_.folder, fs::perms::owner_all, error);  // replies are the operator's alone
  struct Found {
    int64_t at;
    int64_t bytes;
    std::string id;
  };
  std::vector<Found> found;
  for (const fs::path& shelf : EntriesOf(options_.folder)) {
    if (shelf.filename().string().size() != 2) continue;
    for (const fs::path& file : EntriesOf(shelf)) {
      struct stat about {};
      if (stat(file.c_str(), &about) != 0) continue;
      if (file.extension() != kSuffix) {  // a write that a crash cut short
        fs::remove(file, error);
        continue;
      }
      found.push_back(
          {about.st_mtim.tv_sec * 1'000'000 + about.st_mtim.tv_nsec / 1000, about.st_size, file.stem().string()});
    }
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.at < b.at; });
  std::lock_guard lock(mutex_);
  for (const Found& one : found) {
    Entry entry;
    entry.bytes = one.bytes;
    entry.stored_at_us = one.at;
    entry.on_disk = true;
    AddLocked(one.id, std::move(entry));
  }
  PruneLocked();
  return absl::OkStatus();
}

fs::path ReplyStore::PathOf(const std::string& id) const { return options_.folder / id.substr(0, 2) / (id + kSuffix); }

void ReplyStore::AddLocked(const std::string& id, Entry entry) {
  RemoveLocked(id, false);
  if (entry.on_disk) disk_bytes_ += entry.bytes;
  if (entry.memory) memory_bytes_ += static_cast<int64_t>(entry.memory->size());
  entry.place = order_.insert(order_.end(), id);
  entries_[id] = std::move(entry);
}

void ReplyStore::RemoveLocked(const std::string& id, bool also_file) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  if (found->second.on_disk) {
    disk_bytes_ -= found->second.bytes;
    std::error_code error;
    if (also_file) fs::remove(PathOf(id), error);
  }
  if (found->second.memory) memory_bytes_ -= static_cast<int64_t>(found->second.memory->size());
  order_.erase(found->second.place);
  entries_.erase(found);
}

void ReplyStore::PruneLocked() {
  const int64_t oldest =
      clock_.WallMicros() - std::chrono::duration_cast<std::chrono::microseconds>(options_.max_age).count();
  while (!order_.empty() && (disk_bytes_ > options_.max_bytes || entries_[order_.front()].stored_at_us < oldest)) {
    RemoveLocked(order_.front(), true);
  }
  for (auto at = order_.begin(); at != order_.end() && memory_bytes_ > options_.max_memory_bytes;) {
    const std::string id = *at++;
    Entry& entry = entries_[id];
    if (!entry.memory) continue;
    if (entry.on_disk) {
      memory_bytes_ -= static_cast<int64_t>(entry.memory->size());
      entry.memory.reset();
    } else {
      RemoveLocked(id, false);
    }
  }
}

std::optional<std::string> ReplyStore::FindLocked(std::unique_lock<std::mutex>& lock, const std::string& id) {
  PruneLocked();
  const auto found = entries_.find(id);
  if (found == entries_.end()) return std::nullopt;
  if (found->second.memory) return found->second.memory;
  lock.unlock();
  absl::StatusOr<std::string> bytes = std::string();
  RunBlocking([&] {
    bytes = ReadReplyFile(PathOf(id));
    if (!bytes.ok() && bytes.status().code() == absl::StatusCode::kDataLoss) {
      SetAside(options_.folder, PathOf(id), bytes.status());
    }
  });
  lock.lock();
  if (bytes.ok()) return *std::move(bytes);
  RemoveLocked(id, false);
  return std::nullopt;
}

void ReplyStore::Store(const std::string& id, const std::string& bytes) {
  Entry entry;
  entry.bytes = static_cast<int64_t>(bytes.size());
  entry.stored_at_us = clock_.WallMicros();
  if (!options_.folder.empty()) {
    absl::Status written;
    RunBlocking([&] {
      std::error_code error;
      fs::create_directories(PathOf(id).parent_path(), error);
      written = WriteReplyFile(PathOf(id), bytes);
    });
    entry.on_disk = written.ok();
    if (!written.ok()) spdlog::error("a reply could not be stored and stays in memory only: {}", Message(written));
  }
  if (!entry.on_disk) entry.memory = bytes;
  std::lock_guard lock(mutex_);
  AddLocked(id, std::move(entry));
  PruneLocked();
}

absl::StatusOr<ReplyStore::Reply> ReplyStore::Once(const std::string& key, Cancellation& cancellation,
                                                   const std::function<Made()>& make) {
  if (key.empty()) return Reply{make().bytes, false};
  const std::string id = Sha256Hex(key);
  {
    std::unique_lock lock(mutex_);
    while (true) {
      if (std::optional<std::string> stored = FindLocked(lock, id)) return Reply{*std::move(stored), true};
      if (running_.insert(id).second) break;
      // A Cancellation must not be asked under a lock that its callbacks may want; it is looked at now and then.
      changed_.WaitUntil(lock, RealClock().Now() + std::chrono::milliseconds(50));
      lock.unlock();
      if (cancellation.cancelled()) return Cancelled("nobody waits for the reply any more");
      lock.lock();
    }
  }
  Made made = make();
  if (made.keep) Store(id, made.bytes);
  {
    std::lock_guard lock(mutex_);
    running_.erase(id);
    changed_.NotifyAll();
  }
  return Reply{std::move(made.bytes), false};
}

std::optional<std::string> ReplyStore::Find(const std::string& key) {
  if (key.empty()) return std::nullopt;
  std::unique_lock lock(mutex_);
  return FindLocked(lock, Sha256Hex(key));
}

int64_t ReplyStore::bytes() const {
  std::lock_guard lock(mutex_);
  return disk_bytes_;
}

}  // namespace warpsmith::gateway
