#include "tests/gpu/executor/gpu_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "gpu_worker/compile/cuda_toolkit.h"
#include "gpu_worker/device/cuda/child_environment.h"

namespace warpsmith::executor {
namespace {

constexpr int64_t kGuard = 64 << 10;
constexpr int64_t kBlock = 2 << 20;

uint32_t GuardWord(uint32_t buffer, int slot) { return 0x3f000000u + 977 * buffer + 131 * static_cast<uint32_t>(slot); }

}  // namespace

void Require(bool good, const std::string& what) {
  if (good) return;
  std::printf("FAILED %s\n", what.c_str());
  std::exit(1);
}

Gpu::Gpu(std::string executor_program)
    : program_(std::move(executor_program)), folder_(*TemporaryDirectory::Create("executor-gpu-test")) {
  auto api = cuda::DriverApi::Load();
  Require(api.ok(), Message(api.status()));
  api_ = *api;
  Check(api_->cuInit(0), "cuInit");
  CUdevice device = 0;
  Check(api_->cuDeviceGet(&device, 0), "device 0");
  char name[128] = {};
  Check(api_->cuDeviceGetName(name, sizeof name - 1, device), "the device's name");
  name_ = name;
  CUuuid uuid;
  Check(api_->cuDeviceGetUuid(&uuid, device), "the device's UUID");
  uuid_ = cuda::UuidText(uuid);
  CUcontext context = nullptr;
  Check(api_->cuDevicePrimaryCtxRetain(&context, device), "a context");
  Check(api_->cuCtxSetCurrent(context), "the context");
  capability_ = 10 * Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  std::optional<compile::CudaToolkit> toolkit = compile::FindCudaToolkit();
  Require(toolkit.has_value(), "no CUDA toolkit with NVRTC here");
  auto nvrtc = compile::NvrtcApi::Load(toolkit->nvrtc.string(), toolkit->builtins.string());
  Require(nvrtc.ok(), Message(nvrtc.status()));
  nvrtc_ = std::move(*nvrtc);
  for (const std::string& folder : toolkit->include_folders) include_options_.push_back("-I" + folder);
}

void Gpu::Check(CUresult result, const std::string& what) const {
  absl::Status status = cuda::CudaStatus(*api_, result, what);
  Require(status.ok(), Message(status));
}

int Gpu::Attribute(CUdevice_attribute attribute) const {
  int value = 0;
  Check(api_->cuDeviceGetAttribute(&value, attribute, 0), "an attribute");
  return value;
}

int64_t Gpu::FreeBytes() const {
  size_t free = 0, total = 0;
  Check(api_->cuMemGetInfo(&free, &total), "free memory");
  return static_cast<int64_t>(free);
}

ProcessExecutorOptions Gpu::Options(int idle) const {
  ProcessExecutorOptions options;
  options.program = program_;
  options.refill = {idle, std::clamp(idle, 1, 4), true};
  options.cuda = true;
  options.environment = cuda::ChildEnvironment(uuid_);
  return options;
}

std::string Gpu::Compile(const std::string& code, const std::vector<std::string>& kernels,
                         std::vector<std::string>& symbols) {
  std::vector<std::string> options = include_options_;
  options.push_back(fmt::format("-arch=sm_{}{}", capability_, capability_ >= 90 ? "a" : ""));
  options.push_back("-std=c++17");
  auto output = nvrtc_->Compile(code, options, kernels);
  Require(output.ok() && output->result == 0, output.ok() ? output->log : Message(output.status()));
  symbols = output->lowered_names;
  std::string path = (folder() / fmt::format("{}.cubin", files_++)).string();
  Require(WriteFileAtomically(path, output->cubin).ok(), "writing a cubin");
  return path;
}

void Gpu::Report(bool passed, const std::string& name, const std::string& figures) {
  if (!passed) ++failures_;
  std::printf("%s %s%s%s\n", passed ? "ok" : "FAILED", name.c_str(), figures.empty() ? "" : ": ", figures.c_str());
  std::fflush(stdout);
}

Candidate::Candidate(Gpu& gpu, const std::string& code, const std::vector<std::string>& kernels, int slots)
    : gpu_(gpu), slots_(slots), memory_(static_cast<size_t>(slots)) {
  std::vector<std::string> symbols;
  cubin_ = gpu.Compile(code, kernels, symbols);
  for (const std::string& symbol : symbols) plan.add_kernel_symbols(symbol);
}

Candidate::~Candidate() {
  for (std::vector<Memory>& slot : memory_) {
    for (Memory& memory : slot) gpu_.Check(gpu_.api().cuMemFree(memory.start), "freeing");
  }
}

uint32_t Candidate::AddBytes(int64_t bytes, v1::BufferKind kind, bool persistent) {
  auto index = static_cast<uint32_t>(plan.buffers_size());
  v1::ExecutionBuffer* buffer = plan.add_buffers();
  buffer->set_name(fmt::format("b{}", index));
  buffer->set_dtype("float32");
  buffer->set_bytes(bytes);
  buffer->set_kind(kind);
  buffer->set_persistent(persistent);
  for (int slot = 0; slot < slots_; ++slot) {
    Memory memory;
    memory.bytes = (kGuard + bytes + kGuard + kBlock - 1) / kBlock * kBlock;
    gpu_.Check(gpu_.api().cuMemAlloc(&memory.start, static_cast<size_t>(memory.bytes)), "a buffer");
    auto words = static_cast<size_t>(memory.bytes / 4);
    gpu_.Check(gpu_.api().cuMemsetD32Async(memory.start, GuardWord(index, slot), words, nullptr), "guards");
    CUipcMemHandle handle;
    gpu_.Check(gpu_.api().cuIpcGetMemHandle(&handle, memory.start), "a handle");
    memory.handle.assign(reinterpret_cast<const char*>(&handle), sizeof handle);
    memory_[static_cast<size_t>(slot)].push_back(memory);
  }
  gpu_.Check(gpu_.api().cuCtxSynchronize(), "guards");
  return index;
}

void Candidate::WriteBytes(uint32_t buffer, int slot, const void* data, size_t bytes) {
  gpu_.Check(gpu_.api().cuMemcpyHtoD(At(buffer, slot).start + kGuard, data, bytes), "writing a buffer");
  gpu_.Check(gpu_.api().cuCtxSynchronize(), "writing a buffer");
}

void Candidate::ReadBytes(uint32_t buffer, int slot, void* data, size_t bytes) const {
  gpu_.Check(gpu_.api().cuMemcpyDtoH(data, At(buffer, slot).start + kGuard, bytes), "reading a buffer");
}

bool Candidate::GuardsIntact() const {
  std::vector<uint32_t> guard(kGuard / 4);
  for (int slot = 0; slot < slots_; ++slot) {
    for (int b = 0; b < plan.buffers_size(); ++b) {
      const Memory& memory = At(static_cast<uint32_t>(b), slot);
      const int64_t behind = (kGuard + plan.buffers(b).bytes() + 3) / 4 * 4;
      for (int64_t offset : {int64_t{0}, behind}) {
        gpu_.Check(gpu_.api().cuMemcpyDtoH(guard.data(), memory.start + static_cast<CUdeviceptr>(offset), kGuard - 4),
                   "reading a guard");
        for (size_t i = 0; i + 1 < guard.size(); ++i) {
          if (guard[i] != GuardWord(static_cast<uint32_t>(b), slot)) return false;
        }
      }
    }
  }
  return true;
}

v1::KernelArgument Candidate::View(uint32_t buffer, int64_t offset_bytes) {
  v1::KernelArgument argument;
  argument.mutable_view()->set_buffer(buffer);
  argument.mutable_view()->set_offset_bytes(offset_bytes);
  return argument;
}

v1::KernelLaunch& Candidate::Launch(uint32_t kernel, uint32_t grid, uint32_t block,
                                    const std::vector<v1::KernelArgument>& arguments, bool prepare) {
  v1::ExecutionStep* step = prepare ? plan.add_prepare_steps() : plan.add_steps();
  v1::KernelLaunch& launch = *step->mutable_kernel();
  launch.set_kernel(kernel);
  launch.set_grid_x(grid);
  launch.set_grid_y(1);
  launch.set_grid_z(1);
  launch.set_block_x(block);
  launch.set_block_y(1);
  launch.set_block_z(1);
  for (const v1::KernelArgument& argument : arguments) *launch.add_arguments() = argument;
  return launch;
}

absl::StatusOr<std::unique_ptr<Executor>> Candidate::Start(ExecutorFactory& factory) const {
  ExecutorSpec spec;
  spec.artifact_path = cubin_;
  spec.plan = plan;
  for (int slot = 0; slot < slots_; ++slot) {
    std::vector<SharedBuffer>& places = spec.slots.emplace_back();
    for (int b = 0; b < plan.buffers_size(); ++b) {
      const Memory& memory = At(static_cast<uint32_t>(b), slot);
      SharedBuffer& place = places.emplace_back();
      place.ipc_handle = memory.handle;
      place.allocation_bytes = memory.bytes;
      place.payload_offset = kGuard;
      place.payload_bytes = plan.buffers(b).bytes();
    }
  }
  return factory.Start(spec);
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

const char* Name(v1::Outcome outcome) { return v1::Outcome_Name(outcome).c_str() + sizeof("OUTCOME_") - 1; }

}  // namespace warpsmith::executor
