// Fibers that run emulated threads: each runs a body again and again, and may stop in the middle of one. Stacks lie
// between unmapped pages.
// Threading: one thread. Source of the switch: Boost.Context.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_FIBER_POOL_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_FIBER_POOL_H_

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "common/status.h"

namespace warpsmith::device {

// A place to go on from: a pooled fiber's, or the one that the pool's user started on.
class Fiber {
 private:
  friend class FiberPool;
  boost::context::fiber rest_;
};

class FiberPool {
 public:
  static constexpr size_t kStackBytes = 256u << 10;

  // `body` runs once each time an idle fiber is switched to; at its end the fiber switches to home().
  FiberPool(std::function<void()> body, size_t max_fibers) : body_(std::move(body)), max_fibers_(max_fibers) {}
  // Fibers are not unwound: the process that used them ends.
  ~FiberPool() = default;
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  // The context in which the pool is used, outside of all its fibers.
  Fiber* home() { return &home_; }
  // Goes on in `to`, and returns when somebody switches back to `from`, the running one.
  void Switch(Fiber* from, Fiber* to) {
    left_ = from;
    boost::context::fiber other = std::move(to->rest_).resume();
    left_->rest_ = std::move(other);
  }

  // An idle fiber, or null where max_fibers are in use or there is no memory for a stack.
  Fiber* Take();
  // Its body has ended.
  void GiveBack(Fiber* fiber) { idle_.push_back(fiber); }
  size_t in_use() const { return fibers_.size() - idle_.size(); }
  size_t max_fibers() const { return max_fibers_; }

 private:
  std::function<void()> body_;
  size_t max_fibers_;
  Fiber home_;
  Fiber* left_ = nullptr;  // who switched last
  std::vector<Fiber*> fibers_;
  std::vector<Fiber*> idle_;
};

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_FIBER_POOL_H_
