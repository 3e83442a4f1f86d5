#include "tests/gpu/profile/cases.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "common/file.h"
#include "gpu_worker/compile/cuda_toolkit.h"
#include "gpu_worker/compile/nvrtc_api.h"

namespace warpsmith::profile_test {
namespace {

constexpr int64_t kBlock = 2 << 20;
constexpr int64_t kChaseWords = int64_t{1} << 28;  // 1 GiB: far more than L2

uint32_t AddBuffer(v1::ExecutionPlan& plan, const std::string& name, int64_t bytes, v1::BufferKind kind) {
  v1::ExecutionBuffer* buffer = plan.add_buffers();
  buffer->set_name(name);
  buffer->set_dtype("float32");
  buffer->set_bytes(bytes);
  buffer->set_kind(kind);
  return static_cast<uint32_t>(plan.buffers_size() - 1);
}

v1::KernelLaunch* AddLaunch(v1::ExecutionPlan& plan, const std::string& symbol, uint32_t grid_x, uint32_t grid_y,
                            uint32_t block) {
  int kernel = -1;
  for (int i = 0; i < plan.kernel_symbols_size(); ++i) {
    if (plan.kernel_symbols(i) == symbol) kernel = i;
  }
  if (kernel < 0) {
    plan.add_kernel_symbols(symbol);
    kernel = plan.kernel_symbols_size() - 1;
  }
  v1::KernelLaunch* launch = plan.add_steps()->mutable_kernel();
  launch->set_kernel(static_cast<uint32_t>(kernel));
  launch->set_grid_x(grid_x);
  launch->set_grid_y(grid_y);
  launch->set_grid_z(1);
  launch->set_block_x(block);
  launch->set_block_y(1);
  launch->set_block_z(1);
  return launch;
}

void Point(v1::KernelLaunch* launch, uint32_t buffer) { launch->add_arguments()->mutable_view()->set_buffer(buffer); }

template <typename Integer>
void Literal(v1::KernelLaunch* launch, Integer value) {
  launch->add_arguments()->set_literal(std::string(reinterpret_cast<const char*>(&value), sizeof value));
}

// Beside the program where a machine has no source tree, else in it.
std::string SourcePath() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = program.parent_path() / "profile_kernels.cu";
  return std::filesystem::exists(beside, error) ? beside.string() : WARPSMITH_KERNELS;
}

void AddCopy(v1::ExecutionPlan& plan, int processors) {
  const uint32_t source = AddBuffer(plan, "source", kCopyBytes, v1::BUFFER_KIND_READ_ONLY);
  const uint32_t target = AddBuffer(plan, "target", kCopyBytes, v1::BUFFER_KIND_OUTPUT);
  v1::KernelLaunch* launch = AddLaunch(plan, "copy_all", static_cast<uint32_t>(processors) * 8, 1, 256);
  Point(launch, source);
  Point(launch, target);
  Literal<int64_t>(launch, kCopyBytes / 16);
}

void AddMatmul(v1::ExecutionPlan& plan) {
  const int64_t bytes = int64_t{4} * kMatrixSize * kMatrixSize;
  const uint32_t a = AddBuffer(plan, "a", bytes, v1::BUFFER_KIND_READ_ONLY);
  const uint32_t b = AddBuffer(plan, "b", bytes, v1::BUFFER_KIND_READ_ONLY);
  const uint32_t c = AddBuffer(plan, "c", bytes, v1::BUFFER_KIND_OUTPUT);
  v1::KernelLaunch* launch = AddLaunch(plan, "matmul_tile", kMatrixSize / 128, kMatrixSize / 128, 256);
  for (uint32_t buffer : {a, b, c}) Point(launch, buffer);
  Literal<int32_t>(launch, kMatrixSize);
}

}  // namespace

Case MakeCase(const std::string& name, int processors) {
  Case made{name, {}};
  v1::ExecutionPlan& plan = made.plan;
  const auto sms = static_cast<uint32_t>(processors);
  if (name == "copy" || name == "two") AddCopy(plan, processors);
  if (name == "matmul" || name == "two") AddMatmul(plan);
  if (name == "conflicts") {
    const uint32_t out = AddBuffer(plan, "out", int64_t{sms} * 2 * 1024 * 4, v1::BUFFER_KIND_OUTPUT);
    v1::KernelLaunch* launch = AddLaunch(plan, "conflicts", sms * 2, 1, 1024);
    Point(launch, out);
    Literal<int32_t>(launch, 2000);
  }
  if (name == "chase") {
    const uint32_t next = AddBuffer(plan, "next", kChaseWords * 4, v1::BUFFER_KIND_READ_ONLY);
    const uint32_t out = AddBuffer(plan, "out", int64_t{sms} * 8 * 256 * 4, v1::BUFFER_KIND_OUTPUT);
    v1::KernelLaunch* launch = AddLaunch(plan, "chase", sms * 8, 1, 256);
    Point(launch, next);
    Point(launch, out);
    Literal<uint32_t>(launch, static_cast<uint32_t>(kChaseWords - 1));
    Literal<int32_t>(launch, 500);
  }
  if (name == "tiny") {
    const uint32_t out = AddBuffer(plan, "out", 4096, v1::BUFFER_KIND_OUTPUT);
    v1::MemsetStep* memset = plan.add_steps()->mutable_memset();
    memset->mutable_view()->set_buffer(out);
    memset->set_width(4);
    memset->set_count(1024);
    for (int i = 0; i < 300; ++i) Point(AddLaunch(plan, "tiny", 4, 1, 32), out);
  }
  return made;
}

absl::StatusOr<std::string> CompileKernels(int compute_capability) {
  const std::optional<compile::CudaToolkit> toolkit = compile::FindCudaToolkit();
  if (!toolkit) return NotFound("no NVRTC on this machine");
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<compile::NvrtcApi> nvrtc,
                             compile::NvrtcApi::Load(toolkit->nvrtc, toolkit->builtins));
  WARPSMITH_ASSIGN_OR_RETURN(const std::string source, ReadFile(SourcePath()));
  WARPSMITH_ASSIGN_OR_RETURN(
      const compile::NvrtcOutput output,
      nvrtc->Compile(source, {fmt::format("--gpu-architecture=sm_{}", compute_capability), "--std=c++17"}, {}));
  if (output.result != compile::NvrtcApi::kSuccess) return Internal("kernels.cu does not compile: " + output.log);
  return output.cubin;
}

absl::StatusOr<Buffers> Buffers::Allocate(const cuda::DriverApi& api, const v1::ExecutionPlan& plan) {
  Buffers buffers(api);
  for (const v1::ExecutionBuffer& wanted : plan.buffers()) {
    const int64_t bytes = (wanted.bytes() + kBlock - 1) / kBlock * kBlock;
    CUdeviceptr address = 0;
    WARPSMITH_RETURN_IF_ERROR(
        cuda::CudaStatus(api, api.cuMemAlloc(&address, static_cast<size_t>(bytes)), wanted.name()));
    buffers.addresses_.push_back(address);
    // Small floats that are not zero, as an idle multiplier draws less power and runs at another clock.
    WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(
        api, api.cuMemsetD32Async(address, 0x3f8ccccd, static_cast<size_t>(bytes) / 4, nullptr), "filling a buffer"));
    CUipcMemHandle handle;
    WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, api.cuIpcGetMemHandle(&handle, address), "cuIpcGetMemHandle"));
    executor::SharedBuffer shared;
    shared.ipc_handle.assign(handle.reserved, sizeof handle.reserved);
    shared.allocation_bytes = bytes;
    shared.payload_bytes = wanted.bytes();
    buffers.shared_.push_back(std::move(shared));
  }
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, api.cuCtxSynchronize(), "filling the buffers"));
  return buffers;
}

Buffers::~Buffers() {
  for (CUdeviceptr address : addresses_) api_.cuMemFree(address);
}

absl::Status LaunchHere(const cuda::DriverApi& api, const std::string& cubin, const Case& what) {
  WARPSMITH_ASSIGN_OR_RETURN(const Buffers buffers, Buffers::Allocate(api, what.plan));
  CUmodule module = nullptr;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, api.cuModuleLoadData(&module, cubin.data()), "cuModuleLoadData"));
  for (int round = 0; round < 2; ++round) {
    for (const v1::ExecutionStep& step : what.plan.steps()) {
      if (!step.has_kernel()) continue;
      const v1::KernelLaunch& launch = step.kernel();
      CUfunction function = nullptr;
      WARPSMITH_RETURN_IF_ERROR(
          cuda::CudaStatus(api,
                           api.cuModuleGetFunction(&function, module,
                                                   what.plan.kernel_symbols(static_cast<int>(launch.kernel())).c_str()),
                           "cuModuleGetFunction"));
      std::vector<CUdeviceptr> pointers(static_cast<size_t>(launch.arguments_size()));
      std::vector<void*> arguments;
      for (int i = 0; i < launch.arguments_size(); ++i) {
        const v1::KernelArgument& argument = launch.arguments(i);
        if (argument.has_view()) {
          pointers[static_cast<size_t>(i)] = buffers.addresses()[argument.view().buffer()];
          arguments.push_back(&pointers[static_cast<size_t>(i)]);
        } else {
          arguments.push_back(const_cast<char*>(argument.literal().data()));
        }
      }
      WARPSMITH_RETURN_IF_ERROR(
          cuda::CudaStatus(api,
                           api.cuLaunchKernel(function, launch.grid_x(), launch.grid_y(), launch.grid_z(),
                                              launch.block_x(), launch.block_y(), launch.block_z(),
                                              launch.dynamic_shared_bytes(), nullptr, arguments.data(), nullptr),
                           "cuLaunchKernel"));
      WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, api.cuCtxSynchronize(), "the kernel"));
    }
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::profile_test
