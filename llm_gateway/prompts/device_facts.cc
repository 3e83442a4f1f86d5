#include "llm_gateway/prompts/device_facts.h"

#include <fmt/format.h>

#include <string_view>

namespace warpsmith::gateway {
namespace {

struct ArchitectureFacts {
  int capability;
  int shared_kb_per_sm;
  int shared_kb_per_block;
  int threads_per_sm;
  std::string_view instructions;
};

constexpr ArchitectureFacts kArchitectures[] = {
    {80, 164, 163, 2048, "cp.async and mma for fp16, bf16, tf32, int8; no TMA, no clusters, no wgmma, no fp8"},
    {86, 100, 99, 1536, "cp.async and mma for fp16, bf16, tf32, int8; no TMA, no clusters, no wgmma, no fp8"},
    {87, 164, 163, 1536, "cp.async and mma for fp16, bf16, tf32, int8; no TMA, no clusters, no wgmma, no fp8"},
    {89, 100, 99, 1536, "cp.async and mma for fp8, fp16, bf16, tf32, int8; no TMA, no clusters, no wgmma"},
    {90, 228, 227, 2048, "cp.async, TMA, thread block clusters, wgmma and mma for fp8, fp16, bf16, tf32, int8"},
    {100, 228, 227, 2048, "cp.async, TMA, thread block clusters, tcgen05 and mma; no wgmma"},
    {120, 100, 99, 1536, "cp.async, TMA, thread block clusters and mma; no wgmma, no tcgen05"},
};

struct ProductFacts {
  std::string_view name;  // part of the device's name; the first that fits
  double terabytes_per_second;
  int l2_mb;           // 0: not said
  double fp32_tflops;  // CUDA cores
  double tf32_tflops;
  double half_tflops;  // fp16 and bf16
};

constexpr ProductFacts kProducts[] = {
    {"H200", 4.8, 50, 67, 494, 989},         {"H100 PCIe", 2.0, 50, 51, 378, 756},
    {"H100", 3.35, 50, 67, 494, 989},        {"A100-SXM4-80GB", 2.04, 40, 19.5, 156, 312},
    {"A100 80GB", 1.94, 40, 19.5, 156, 312}, {"A100", 1.56, 40, 19.5, 156, 312},
    {"L40S", 0.864, 0, 91.6, 183, 362},      {"A10G", 0.6, 6, 31.2, 35, 70},
};

constexpr std::string_view kEmulated =
    "An emulated device: the file is compiled for the CPU, the threads of a block run as fibers on one core, and "
    "blocks "
    "run one after the other or on few cores. Shared memory, barriers, shuffles, votes, atomics, half and bfloat16 "
    "work, "
    "with the limits of sm_80 (48 KB of shared memory by default, 163 KB at most a block, 1024 threads a block). It "
    "cannot "
    "run inline PTX, WMMA or mma instructions, TMA, clusters and library steps. What is fast here: few instructions "
    "and "
    "barriers, work without synchronisation between threads, contiguous loops, little recomputation.";

}  // namespace

std::string DescribeDevice(const v1::DeviceDescription& device) {
  if (device.emulated()) return std::string(kEmulated);
  int capability = device.compute_capability();
  std::string text =
      fmt::format("{}, compute capability {}.{} (sm_{})", device.name(), capability / 10, capability % 10, capability);
  if (device.sm_count() > 0) text += fmt::format(", {} SMs", device.sm_count());
  if (device.memory_bytes() > 0) {
    text += fmt::format(", {:.0f} GiB of memory", static_cast<double>(device.memory_bytes()) / (1 << 30));
  }
  text += ".";
  for (const ArchitectureFacts& facts : kArchitectures) {
    if (facts.capability != capability) continue;
    text += fmt::format(
        " An SM has 65536 32-bit registers, {} KB of shared memory ({} KB at most a block) and up to {} "
        "threads. It has {}.",
        facts.shared_kb_per_sm, facts.shared_kb_per_block, facts.threads_per_sm, facts.instructions);
  }
  for (const ProductFacts& facts : kProducts) {
    if (device.name().find(facts.name) == std::string::npos) continue;
    text += fmt::format(" Data sheet: {:g} TB/s of memory bandwidth, ", facts.terabytes_per_second);
    if (facts.l2_mb > 0) text += fmt::format("{} MB of L2, ", facts.l2_mb);
    text += fmt::format("{:g} TFLOP/s fp32 on CUDA cores, {:g} tf32 and {:g} fp16 or bf16 on tensor cores.",
                        facts.fp32_tflops, facts.tf32_tflops, facts.half_tflops);
    break;
  }
  return text;
}

}  // namespace warpsmith::gateway
