#include "llm_gateway/service/parallel.h"

#include <memory>
#include <mutex>

#include "llm_gateway/async/wait_point.h"

namespace warpsmith::gateway {
namespace {

// Helpers may outlive the call that wanted them; `one` is touched only while there is something left to do.
struct Shared {
  size_t count;
  const std::function<void(size_t)>* one;
  std::mutex mutex;
  WaitPoint all_ended;
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
      if (++ended == count) all_ended.Notify();
    }
  }
};

}  // namespace

void InParallel(TaskRunner& pool, size_t count, const std::function<void(size_t)>& one) {
  if (count == 1) return one(0);
  auto shared = std::make_shared<Shared>();
  shared->count = count;
  shared->one = &one;
  for (size_t i = 1; i < count; ++i) pool.Run([shared] { shared->Help(); });
  shared->Help();
  if (count > 0) shared->all_ended.Wait();
}

}  // namespace warpsmith::gateway
