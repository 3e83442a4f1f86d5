#include "gpu_worker/executor/cuda/launcher.h"

#include <algorithm>

namespace warpsmith::executor {
namespace {

constexpr int64_t kMaxNodes = 200000;
// Waits in LaunchSlowly, at most: a plan of very many steps is not slowed down by a multiple.
constexpr int kMaxWaits = 64;

}  // namespace

Launcher::Launcher(CudaContext& context, CudaPlanRunner& runner, int slots)
    : context_(context),
      api_(context.api()),
      runner_(runner),
      graphs_(static_cast<size_t>(slots), nullptr),
      budget_(kMaxNodes) {}

void Launcher::Drop(int slot) {
  CUgraphExec& graph = graphs_[static_cast<size_t>(slot)];
  if (graph != nullptr) api_.cuGraphExecDestroy(graph);
  graph = nullptr;
}

bool Launcher::Record(int slot) {
  CUgraph graph = nullptr;
  if (api_.cuStreamBeginCapture(context_.stream(), CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS) return false;
  bool recorded = !runner_.Enqueue(StepList::kSteps, slot, 0, runner_.Count(StepList::kSteps));
  recorded = api_.cuStreamEndCapture(context_.stream(), &graph) == CUDA_SUCCESS && recorded && graph != nullptr;
  CUgraphExec& made = graphs_[static_cast<size_t>(slot)];
  recorded = recorded && api_.cuGraphInstantiateWithFlags(&made, graph, 0) == CUDA_SUCCESS;
  if (graph != nullptr) api_.cuGraphDestroy(graph);
  if (!recorded) made = nullptr;
  return recorded && api_.cuGraphUpload(made, context_.stream()) == CUDA_SUCCESS;
}

MaybeFault Launcher::MakeReady(int slot) {
  if (!use_graphs_) return std::nullopt;
  for (int other : budget_.Use(slot, runner_.Count(StepList::kSteps))) {
    // A graph that is still running must not go.
    if (auto fault = Wait()) return fault;
    Drop(other);
  }
  if (graphs_[static_cast<size_t>(slot)] != nullptr || Record(slot)) return std::nullopt;
  // One way of launching for all slots, or their times could not be compared.
  use_graphs_ = false;
  if (auto fault = Wait()) return fault;
  for (size_t s = 0; s < graphs_.size(); ++s) Drop(static_cast<int>(s));
  return std::nullopt;
}

MaybeFault Launcher::Launch(int slot) {
  if (use_graphs_ && graphs_[static_cast<size_t>(slot)] == nullptr) {
    if (auto fault = MakeReady(slot)) return fault;
  }
  const int steps = runner_.Count(StepList::kSteps);
  if (!use_graphs_) return runner_.Enqueue(StepList::kSteps, slot, 0, steps);
  CUresult result = api_.cuGraphLaunch(graphs_[static_cast<size_t>(slot)], context_.stream());
  if (result == CUDA_SUCCESS) return std::nullopt;
  return CheckCuda(api_, result, runner_.Describe(StepList::kSteps, 0, steps));
}

MaybeFault Launcher::LaunchSlowly(StepList list, int slot) {
  const int steps = runner_.Count(list);
  const int stride = std::max(1, (steps + kMaxWaits - 1) / kMaxWaits);
  for (int first = 0; first < steps; first += stride) {
    const int last = std::min(first + stride, steps);
    if (auto fault = runner_.Enqueue(list, slot, first, last)) return fault;
    CUresult result = context_.Synchronize();
    if (result != CUDA_SUCCESS) return CheckCuda(api_, result, runner_.Describe(list, first, last));
  }
  return std::nullopt;
}

MaybeFault Launcher::Wait() {
  CUresult result = context_.Synchronize();
  if (result == CUDA_SUCCESS) return std::nullopt;
  return CheckCuda(api_, result, runner_.Describe(StepList::kSteps, 0, runner_.Count(StepList::kSteps)));
}

}  // namespace warpsmith::executor
