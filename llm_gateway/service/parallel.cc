#include "llm_gateway/service/parallel.h"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace warpsmith::gateway {
namespace {

// Helpers may outlive the call that wanted them; `one` is touched only while there is something left to do.
struct Shared {
  size_t count;
  const std::function<void(size_t)>* one;
  std::mutex mutex;
  std::condition_variable changed;
  size_t next = 0;
  size_t ended = 0;

  void Help() {
    while (true) {
      size_t index;
      {
        std::lock_guard lock(mutex);
        if (next >= count) return;
        index = next++;
      }
      (*one)(index);
      std::lock_guard lock(mutex);
      if (++ended == count) changed.notify_all();
    }
  }
};

}  // namespace

void InParallel(WorkerPool& pool, size_t count, const std::function<void(size_t)>& one) {
  if (count == 1) return one(0);
  auto shared = std::make_shared<Shared>();
  shared->count = count;
  shared->one = &one;
  for (size_t i = 1; i < count; ++i) pool.Run([shared] { shared->Help(); });
  shared->Help();
  std::unique_lock lock(shared->mutex);
  shared->changed.wait(lock, [&] { return shared->ended == count; });
}

}  // namespace warpsmith::gateway
