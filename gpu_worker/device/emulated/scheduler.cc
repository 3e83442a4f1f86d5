#include "gpu_worker/device/emulated/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpsmith::device {
namespace {

// Rounds of all threads of a block without any getting anywhere, before others are let run beside it.
constexpr uint32_t kIdleRounds = 4;
constexpr size_t kMaxBlocksBeside = 64;

LaunchFault Deadlock(const Block& block) {
  return {FaultKind::kLaunchError, fmt::format("barrier deadlock: {}", block.Describe())};
}

LaunchFault NoFiber() { return {FaultKind::kOutOfMemory, "no memory for the stacks of a block's threads"}; }

}  // namespace

Scheduler::Scheduler(Module& module, SharedMemory& shared)
    : module_(module), shared_(shared), pool_([this] { RunThreads(); }, kMaxFibers) {}

Scheduler::~Scheduler() = default;

std::optional<LaunchFault> Scheduler::Launch(const Kernel& kernel, void** arguments, const LaunchShape& shape,
                                             uint64_t seed, uint32_t shared_fill) {
  kernel_ = kernel;
  arguments_ = arguments;
  seed_ = seed;
  shared_fill_ = shared_fill;
  uint64_t threads = uint64_t{shape.block.x} * shape.block.y * shape.block.z;
  blocks_ = uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
  if (threads == 0 || threads > Block::kMaxThreads || blocks_ == 0) {
    return LaunchFault{FaultKind::kLaunchError, "invalid launch configuration"};
  }
  bool same_block = thread_indexes_.size() == threads && shape.block.x == shape_.block.x &&
                    shape.block.y == shape_.block.y && shape.block.z == shape_.block.z;
  shape_ = shape;
  block_threads_ = static_cast<uint32_t>(threads);
  block_order_ = Order(blocks_, seed);
  if (!same_block) {
    thread_indexes_.clear();
    for (uint32_t z = 0; z < shape.block.z; ++z) {
      for (uint32_t y = 0; y < shape.block.y; ++y) {
        for (uint32_t x = 0; x < shape.block.x; ++x) thread_indexes_.push_back(uint3{x, y, z});
      }
    }
  }
  if (placed_dynamic_bytes_ != shape.dynamic_shared_bytes) {
    shared_.Resize(shape.dynamic_shared_bytes);
    module_.PlaceSharedVariables(shared_.static_memory(), shared_.dynamic_memory());
    placed_dynamic_bytes_ = shape.dynamic_shared_bytes;
  }
  warpsmith_device.block_size = shape.block;
  warpsmith_device.grid_size = shape.grid;
  warpsmith_device.cooperative = shape.cooperative;
  in_place_ = nullptr;
  return shape.cooperative ? RunTogether() : RunApart();
}

void Scheduler::BeginBlock() {
  uint64_t linear = block_order_.Next();
  uint3 index{static_cast<uint32_t>(linear % shape_.grid.x),
              static_cast<uint32_t>(linear / shape_.grid.x % shape_.grid.y),
              static_cast<uint32_t>(linear / shape_.grid.x / shape_.grid.y)};
  if (spare_.empty()) spare_.push_back(std::make_unique<Block>());
  active_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  active_.back()->Reset(index, block_threads_, seed_ == 0 ? 0 : seed_ + 0x9e3779b97f4a7c15u * (linear + 1));
}

void Scheduler::PutInPlace(Block& block) {
  if (in_place_ == &block) return;
  if (shared_.bytes() > 0) {
    if (in_place_ != nullptr) {
      shared_.Save(in_place_->saved_shared);
      in_place_->has_saved_shared = true;
    }
    if (block.has_saved_shared) {
      shared_.Restore(block.saved_shared);
    } else {
      shared_.Fill(shared_fill_);
    }
  }
  in_place_ = &block;
}

// Blocks one after another; several at once only while those in flight spin.
std::optional<LaunchFault> Scheduler::RunApart() {
  uint64_t next = 0;
  size_t cursor = 0;
  bool all_spin = false;
  while (next < blocks_ || !active_.empty()) {
    bool room = active_.size() < kMaxBlocksBeside && pool_.in_use() + block_threads_ <= pool_.max_fibers();
    if (active_.empty() || (all_spin && room && next < blocks_)) {
      BeginBlock();
      ++next;
      cursor = active_.size() - 1;
      all_spin = false;
    }
    if (cursor >= active_.size()) cursor = 0;
    Block& block = *active_[cursor];
    switch (RunBlock(block)) {
      case Stop::kFinished:
        in_place_ = nullptr;
        spare_.push_back(std::move(active_[cursor]));
        active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(cursor));
        all_spin = false;
        break;
      case Stop::kSpinning:
        if (++cursor >= active_.size()) all_spin = true;
        break;
      case Stop::kNoFiber:
        return NoFiber();
      case Stop::kGrid:
      case Stop::kStuck:
        return Deadlock(block);
    }
  }
  return std::nullopt;
}

std::optional<LaunchFault> Scheduler::RunTogether() {
  if (blocks_ * block_threads_ > kMaxFibers) {
    return LaunchFault{FaultKind::kNeedsGpu,
                       fmt::format("a cooperative launch of {} blocks of {} threads: the emulated device holds {} "
                                   "threads at once",
                                   blocks_, block_threads_, kMaxFibers)};
  }
  for (uint64_t number = 0; number < blocks_; ++number) BeginBlock();
  uint64_t finished = 0;
  while (finished < blocks_) {
    uint64_t waiting = 0;
    for (std::unique_ptr<Block>& block : active_) {
      if (block->finished()) continue;
      if (block->waits_for_grid() && !block->HasReady()) {
        ++waiting;
        continue;
      }
      switch (RunBlock(*block)) {
        case Stop::kFinished:
          ++finished;
          if (in_place_ == block.get()) in_place_ = nullptr;
          break;
        case Stop::kGrid:
          ++waiting;
          break;
        case Stop::kSpinning:
          break;
        case Stop::kNoFiber:
          return LaunchFault{FaultKind::kNeedsGpu, "no memory to run all blocks of a cooperative launch at once"};
        case Stop::kStuck:
          return Deadlock(*block);
      }
    }
    // Blocks that have ended count as arrived.
    if (waiting > 0 && waiting + finished == blocks_) {
      for (std::unique_ptr<Block>& block : active_) block->ReleaseFromGrid();
    }
  }
  for (std::unique_ptr<Block>& block : active_) spare_.push_back(std::move(block));
  active_.clear();
  return std::nullopt;
}

Scheduler::Stop Scheduler::RunBlock(Block& block) {
  PutInPlace(block);
  current_ = &block;
  warpsmith_device.block_index = block.index();
  uint64_t progress = block.progress;
  uint32_t idle = 0;
  for (;;) {
    if (block.HasReady()) {
      running_ = block.TakeReady();
      fiber_ = block.fiber(running_);
      Enter(running_);
    } else if (block.HasUnstarted()) {
      fiber_ = pool_.Take();
      if (fiber_ == nullptr) return Stop::kNoFiber;
    } else if (!block.ResolveActiveMasks()) {
      if (block.finished()) return Stop::kFinished;
      return block.waits_for_grid() ? Stop::kGrid : Stop::kStuck;
    } else {
      continue;
    }
    body_ended_ = false;
    pool_.Switch(pool_.home(), fiber_);
    if (body_ended_) pool_.GiveBack(fiber_);
    if (block.progress != progress) {
      progress = block.progress;
      idle = 0;
    } else if (++idle > kIdleRounds * block.live() + kIdleRounds) {
      return Stop::kSpinning;
    }
  }
}

void Scheduler::RunThreads() {
  while (current_->HasUnstarted()) {
    running_ = current_->StartNext();
    Enter(running_);
    kernel_.invoke(arguments_);
    current_->End(running_);
    if (current_->HasReady() && !current_->HasUnstarted()) break;
  }
  body_ended_ = true;
}

void Scheduler::Enter(uint32_t thread) {
  warpsmith_device.thread_index = thread_indexes_[thread];
  warpsmith_device.thread = thread;
  warpsmith_device.operations = 0;
}

void Scheduler::Wait() {
  Fiber* mine = fiber_;
  current_->SetFiber(running_, mine);
  if (!current_->HasReady()) {
    pool_.Switch(mine, pool_.home());
    return;
  }
  running_ = current_->TakeReady();
  fiber_ = current_->fiber(running_);
  Enter(running_);
  pool_.Switch(mine, fiber_);
}

uint32_t Scheduler::Barrier(uint32_t kind, uint32_t predicate) {
  if (!current_->ArriveAtBarrier(running_, predicate != 0)) Wait();
  return current_->BarrierResult(kind);
}

uint64_t Scheduler::WarpOperation(const LaneRequest& request) {
  if (!current_->ArriveAtWarp(running_, request)) Wait();
  return current_->WarpResult(running_);
}

void Scheduler::GridBarrier() {
  current_->ArriveAtGrid(running_);
  Wait();
}

void Scheduler::Yield() {
  warpsmith_device.operations = 0;
  current_->SetFiber(running_, fiber_);
  current_->PutReady(running_);
  // Home counts how often nobody gets anywhere.
  pool_.Switch(fiber_, pool_.home());
}

}  // namespace warpsmith::device
