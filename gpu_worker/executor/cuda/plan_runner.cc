#include "gpu_worker/executor/cuda/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gpu_worker/executor/cuda/tensor_map.h"
#include "gpu_worker/executor/plan_bounds.h"

namespace warpsmith::executor {
namespace {

constexpr size_t kNamedKernels = 4;

}  // namespace

CudaPlanRunner::CudaPlanRunner(const v1::ExecutionPlan& plan, CudaContext& context, const IpcBuffers& buffers)
    : plan_(plan), context_(context), api_(context.api()), buffers_(buffers), residency_(context.api()) {}

CudaPlanRunner::~CudaPlanRunner() = default;

MaybeFault CudaPlanRunner::Load(const std::string& cubin) {
  if (!cubin.empty()) {
    if (auto fault = CheckCuda(api_, api_.cuModuleLoadData(&module_, cubin.data()), "loading the module")) return fault;
  }
  if (auto fault = LoadKernels()) return fault;
  if (auto fault = LoadSteps(StepList::kPrepare)) return fault;
  return LoadSteps(StepList::kSteps);
}

MaybeFault CudaPlanRunner::LoadKernels() {
  std::vector<uint32_t> shared(static_cast<size_t>(plan_.kernel_symbols_size()), 0);
  for (StepList list : {StepList::kPrepare, StepList::kSteps}) {
    for (const v1::ExecutionStep& step : Steps(list)) {
      if (!step.has_kernel()) continue;
      shared[step.kernel().kernel()] = std::max(shared[step.kernel().kernel()], step.kernel().dynamic_shared_bytes());
    }
  }
  for (int i = 0; i < plan_.kernel_symbols_size(); ++i) {
    const std::string& symbol = plan_.kernel_symbols(i);
    std::string where = fmt::format("kernel {:.64}", symbol);
    CUfunction function = nullptr;
    if (module_ == nullptr) return CudaFault{v1::OUTCOME_LAUNCH_ERROR, where, "the candidate has no module"};
    if (auto fault = CheckCuda(api_, api_.cuModuleGetFunction(&function, module_, symbol.c_str()), where)) return fault;
    if (auto fault = CheckLocalMemory(function, symbol)) return fault;
    auto dynamic = static_cast<int>(shared[static_cast<size_t>(i)]);
    if (dynamic > 0) {
      CUresult result = api_.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic);
      if (auto fault = CheckCuda(api_, result, fmt::format("{}: {} bytes of dynamic shared memory", where, dynamic))) {
        return fault;
      }
    }
    if (auto fault = residency_.Load(function, where)) return fault;
    std::vector<size_t>& sizes = parameters_.emplace_back();
    for (size_t offset = 0, size = 0;
         api_.cuFuncGetParamInfo(function, sizes.size(), &offset, &size) == CUDA_SUCCESS;) {
      sizes.push_back(size);
    }
    kernels_.push_back(function);
  }
  return std::nullopt;
}

// The driver takes it for as many threads as the device can hold at once.
MaybeFault CudaPlanRunner::CheckLocalMemory(CUfunction function, const std::string& symbol) const {
  int local = 0;
  size_t free = 0, total = 0;
  if (api_.cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function) != CUDA_SUCCESS ||
      api_.cuMemGetInfo(&free, &total) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  uint64_t threads = static_cast<uint64_t>(context_.Attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)) *
                     static_cast<uint64_t>(context_.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  uint64_t bytes = threads * static_cast<uint64_t>(std::max(local, 0));
  if (bytes <= free) return std::nullopt;
  return CudaFault{v1::OUTCOME_OUT_OF_MEMORY, fmt::format("kernel {:.64}", symbol),
                   fmt::format("{} bytes of local memory a thread take {} bytes, and {} are free", local, bytes, free)};
}

MaybeFault CudaPlanRunner::LoadSteps(StepList list) {
  const StepsField& steps = Steps(list);
  Extras(list).resize(static_cast<size_t>(steps.size()));
  for (int i = 0; i < steps.size(); ++i) {
    if (!steps[i].has_kernel()) continue;
    auto arguments = std::make_unique<KernelArguments>(steps[i].kernel());
    absl::Status checked = arguments->CheckAgainst(parameters_[steps[i].kernel().kernel()]);
    if (!checked.ok()) return FaultOf(checked, Describe(list, i, i + 1));
    Extras(list)[static_cast<size_t>(i)].arguments = std::move(arguments);
  }
  return std::nullopt;
}

MaybeFault CudaPlanRunner::PrepareLibrary(const std::vector<std::string>& folders) {
  absl::StatusOr<std::unique_ptr<library::LibraryRunner>> library = library::LibraryRunner::Create(api_, folders);
  if (!library.ok()) return FaultOf(library.status(), "library steps");
  library_ = std::move(*library);
  residency_.NeedFirstRun();
  for (int slot = 0; slot < buffers_.slots(); ++slot) {
    for (StepList list : {StepList::kPrepare, StepList::kSteps}) {
      for (int i = 0; i < Count(list); ++i) {
        if (!Steps(list)[i].has_library()) continue;
        absl::Status prepared = library_->Prepare(
            Steps(list)[i].library(), [this, slot](const v1::BufferView& view) -> absl::StatusOr<library::Operand> {
              return library::Operand{AddressOf(slot, view), plan_.buffers(static_cast<int>(view.buffer())).dtype()};
            });
        if (!prepared.ok()) return FaultOf(prepared, Describe(list, i, i + 1));
        Extras(list)[static_cast<size_t>(i)].library.push_back(library_->prepared() - 1);
      }
    }
  }
  return std::nullopt;
}

MaybeFault CudaPlanRunner::Enqueue(StepList list, int slot, int first, int last) {
  for (int i = first; i < last; ++i) {
    if (auto fault = EnqueueStep(list, slot, i)) return fault;
  }
  return std::nullopt;
}

MaybeFault CudaPlanRunner::EnqueueStep(StepList list, int slot, int index) {
  const v1::ExecutionStep& step = Steps(list)[index];
  const Extra& extra = Extras(list)[static_cast<size_t>(index)];
  CUresult result = CUDA_SUCCESS;
  if (step.has_kernel()) {
    absl::StatusOr<void**> arguments = extra.arguments->Resolve(
        [this, slot](uint32_t buffer) { return buffers_.Payload(slot, buffer); },
        [this, slot](const v1::TensorMap& map, void* descriptor) { return EncodeMap(slot, map, descriptor); });
    if (!arguments.ok()) return FaultOf(arguments.status(), Describe(list, index, index + 1));
    result = LaunchKernel(step.kernel(), *arguments);
  } else if (step.has_memset()) {
    result = Fill(step.memset(), AddressOf(slot, step.memset().view()));
  } else if (step.has_copy() && step.copy().bytes() > 0) {
    result = api_.cuMemcpyDtoDAsync(AddressOf(slot, step.copy().target()), AddressOf(slot, step.copy().source()),
                                    static_cast<size_t>(step.copy().bytes()), context_.stream());
  } else if (step.has_library()) {
    absl::Status enqueued = library_->Enqueue(extra.library[static_cast<size_t>(slot)], context_.stream());
    if (!enqueued.ok()) return FaultOf(enqueued, Describe(list, index, index + 1));
  }
  if (result == CUDA_SUCCESS) return std::nullopt;  // without making a text of every step
  return CheckCuda(api_, result, Describe(list, index, index + 1));
}

CUresult CudaPlanRunner::LaunchKernel(const v1::KernelLaunch& launch, void** arguments) const {
  CUlaunchAttribute attributes[2] = {};
  CUlaunchConfig config{};
  config.gridDimX = launch.grid_x();
  config.gridDimY = launch.grid_y();
  config.gridDimZ = launch.grid_z();
  config.blockDimX = launch.block_x();
  config.blockDimY = launch.block_y();
  config.blockDimZ = launch.block_z();
  config.sharedMemBytes = launch.dynamic_shared_bytes();
  config.hStream = context_.stream();
  config.attrs = attributes;
  if (launch.cooperative()) {
    attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[config.numAttrs++].value.cooperative = 1;
  }
  if (launch.cluster_size() > 0) {
    auto side = [&launch](int i) { return i < launch.cluster_size() ? std::max(launch.cluster(i), 1u) : 1u; };
    CUlaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = side(0);
    cluster.value.clusterDim.y = side(1);
    cluster.value.clusterDim.z = side(2);
  }
  return api_.cuLaunchKernelEx(&config, kernels_[launch.kernel()], arguments, nullptr);
}

CUresult CudaPlanRunner::Fill(const v1::MemsetStep& step, CUdeviceptr address) const {
  auto count = static_cast<size_t>(step.count());
  if (count == 0) return CUDA_SUCCESS;
  switch (step.width()) {
    case 1:
      return api_.cuMemsetD8Async(address, static_cast<unsigned char>(step.value()), count, context_.stream());
    case 2:
      return api_.cuMemsetD16Async(address, static_cast<unsigned short>(step.value()), count, context_.stream());
    default:
      return api_.cuMemsetD32Async(address, step.value(), count, context_.stream());
  }
}

absl::Status CudaPlanRunner::EncodeMap(int slot, const v1::TensorMap& map, void* descriptor) const {
  WARPSMITH_ASSIGN_OR_RETURN(TensorMapFields fields, ReadTensorMap(map));
  const int64_t room = plan_.buffers(static_cast<int>(map.view().buffer())).bytes() - map.view().offset_bytes();
  if (fields.extent_bytes > room) {
    return InvalidArgument(fmt::format("it spans {} bytes of a buffer with {}", fields.extent_bytes, room));
  }
  return EncodeTensorMap(api_, fields, AddressOf(slot, map.view()), descriptor);
}

std::string CudaPlanRunner::Describe(StepList list, int first, int last) const {
  const bool prepare = list == StepList::kPrepare;
  if (last - first == 1) return DescribeStep(plan_, first, prepare);
  if (last <= first) return "the plan";
  std::set<std::string> names;
  for (int i = first; i < last && names.size() <= kNamedKernels; ++i) {
    if (Steps(list)[i].has_kernel()) {
      names.insert(plan_.kernel_symbols(static_cast<int>(Steps(list)[i].kernel().kernel())).substr(0, 32));
    }
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return fmt::format("{}steps {} to {} (kernels {:.120})", prepare ? "prepare " : "", first, last - 1, text);
}

}  // namespace warpsmith::executor
