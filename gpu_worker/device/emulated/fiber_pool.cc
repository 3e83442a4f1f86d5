#include "gpu_worker/device/emulated/fiber_pool.h"

#include <sys/mman.h>

#include "gpu_worker/device/emulated/page_size.h"

namespace warpsmith::device {
namespace {

// The memory is the pool's.
struct NoDeallocation {
  void deallocate(boost::context::stack_context&) {}
};

}  // namespace

Fiber* FiberPool::Take() {
  if (!idle_.empty()) {
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return fiber;
  }
  if (fibers_.size() >= max_fibers_) return nullptr;
  void* mapped = mmap(nullptr, kStackBytes + kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (mprotect(mapped, kPage, PROT_NONE) != 0) {
    munmap(mapped, kStackBytes + kPage);
    return nullptr;
  }
  // Tops of stacks differ in their lower bits, or all would share the same few cache lines.
  size_t shift = (fibers_.size() % 16) * 192;
  boost::context::stack_context stack;
  stack.size = kStackBytes - shift;
  stack.sp = static_cast<char*>(mapped) + kPage + stack.size;
  auto* fiber = new Fiber;
  fiber->rest_ = boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                                       NoDeallocation(), [this, fiber](boost::context::fiber&& other) {
                                         left_->rest_ = std::move(other);
                                         for (;;) {
                                           body_();
                                           Switch(fiber, &home_);
                                         }
                                         return boost::context::fiber();
                                       });
  fibers_.push_back(fiber);
  return fiber;
}

}  // namespace warpsmith::device
