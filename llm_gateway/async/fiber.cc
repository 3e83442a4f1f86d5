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

}  // namespace

std::unique_ptr<Fiber> Fiber::Make(Fibers& owner, Fibers::Home& home) {
  const size_t bytes = PageBytes() + kStackBytes;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (mprotect(memory, PageBytes(), PROT_NONE) != 0) {
    munmap(memory, bytes);
    return nullptr;
  }
  return std::unique_ptr<Fiber>(new Fiber(owner, home, static_cast<char*>(memory)));
}

Fiber::Fiber(Fibers& owner, Fibers::Home& home, char* memory) : owner_(owner), home_(home), memory_(memory) {
  rest_ = boost::context::detail::make_fcontext(memory_ + PageBytes() + kStackBytes, kStackBytes, &Fiber::Enter);
#if defined(__SANITIZE_THREAD__)
  view_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_ADDRESS__)
  // Once more, so that what the sanitizer keeps of the stack goes with it.
  leaving_ = true;
  (void)Go();
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(view_);
#endif
  munmap(memory_, PageBytes() + kStackBytes);
}

Fiber* Fiber::Current() { return running_fiber; }

void Fiber::Enter(boost::context::detail::transfer_t from) noexcept {
  auto* self = static_cast<Fiber*>(from.data);
  self->Arrive(nullptr, from.fctx);
  while (!self->leaving_) {
    self->work_();
    self->work_ = nullptr;
    self->Suspend();
  }
  self->Leave(nullptr);
}

// The last that a fiber does on its stack, and the first that it does when it is back; `fake_stack` null: for good.
// Nothing that a sanitizer watches may stand between its notice and the jump.
void Fiber::Leave([[maybe_unused]] void** fake_stack) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake_stack, origin_stack_, origin_stack_bytes_);
#endif
  const Context origin = origin_;
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(origin_view_, 0);
#endif
  const boost::context::detail::transfer_t back = boost::context::detail::jump_fcontext(origin, nullptr);
  Arrive(fake_stack == nullptr ? nullptr : *fake_stack, back.fctx);
}

void Fiber::Arrive([[maybe_unused]] void* fake_stack, Context origin) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, &origin_stack_, &origin_stack_bytes_);
#endif
  origin_ = origin;
}

void Fiber::Suspend() {
  void* fake_stack = nullptr;
  Leave(&fake_stack);
}

bool Fiber::Go() {
  Fiber* const outer = running_fiber;
  running_fiber = this;
  const Context rest = rest_;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, memory_ + PageBytes(), kStackBytes);
#endif
#if defined(__SANITIZE_THREAD__)
  origin_view_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(view_, 0);
#endif
  const boost::context::detail::transfer_t back = boost::context::detail::jump_fcontext(rest, this);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  rest_ = back.fctx;
  running_fiber = outer;
  return !work_;
}

void Fiber::Wake() {
  home_.loop->Post([this] { owner_.Resume(this); });
}

}  // namespace warpsmith::gateway
