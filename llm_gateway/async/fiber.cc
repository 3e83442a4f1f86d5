#include "llm_gateway/async/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace warpsmith::gateway {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kStackBytes = 1u << 20;  // its frames are larger
#else
constexpr size_t kStackBytes = 256u << 10;
#endif

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

thread_local Fiber* running_fiber = nullptr;

// The stack is the fiber's own and is used again.
struct KeepStack {
  void deallocate(boost::context::stack_context&) {}
};

}  // namespace

std::unique_ptr<Fiber> Fiber::Make(Fibers& owner) {
  const size_t bytes = PageBytes() + kStackBytes;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (mprotect(memory, PageBytes(), PROT_NONE) != 0) {
    munmap(memory, bytes);
    return nullptr;
  }
  return std::unique_ptr<Fiber>(new Fiber(owner, static_cast<char*>(memory)));
}

Fiber::~Fiber() { munmap(memory_, PageBytes() + kStackBytes); }

Fiber* Fiber::Current() { return running_fiber; }

void Fiber::Begin(std::function<void()> work) {
  work_ = std::move(work);
  ended_ = false;
  boost::context::stack_context stack;
  stack.sp = memory_ + PageBytes() + kStackBytes;
  stack.size = kStackBytes;
  rest_ = boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                                KeepStack(), [this](boost::context::fiber&& loop) { return Body(std::move(loop)); });
}

boost::context::fiber Fiber::Body(boost::context::fiber&& loop) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &origin_stack_, &origin_stack_bytes_);
#endif
  origin_ = std::move(loop);
  work_();
  work_ = nullptr;
  ended_ = true;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, origin_stack_, origin_stack_bytes_);  // null: this stack is done with
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(origin_view_, 0);
#endif
  return std::move(origin_);
}

bool Fiber::Go() {
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, memory_ + PageBytes(), kStackBytes);
#endif
#if defined(__SANITIZE_THREAD__)
  if (thread_view_ == nullptr) thread_view_ = __tsan_create_fiber(0);
  origin_view_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread_view_, 0);
#endif
  running_fiber = this;
  boost::context::fiber rest = std::move(rest_).resume();
  running_fiber = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
#if defined(__SANITIZE_THREAD__)
  if (ended_) __tsan_destroy_fiber(std::exchange(thread_view_, nullptr));
#endif
  rest_ = std::move(rest);
  return ended_;
}

void Fiber::Suspend() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_stack_, origin_stack_, origin_stack_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(origin_view_, 0);
#endif
  boost::context::fiber origin = std::move(origin_).resume();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &origin_stack_, &origin_stack_bytes_);
#endif
  origin_ = std::move(origin);
}

void Fiber::Wake() {
  owner_.loop_.Post([this] { owner_.Resume(this); });
}

}  // namespace warpsmith::gateway
