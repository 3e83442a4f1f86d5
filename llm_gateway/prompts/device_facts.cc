#include "llm_gateway/prompts/device_facts.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

namespace warpsmith::gateway {
namespace {

struct ArchitectureFacts {
  int capability;
  int shared_kb_per_sm;
  int shared_kb_per_block;
  int threads_per_sm;
  int blocks_per_sm;
  std::string_view instructions;
};

constexpr std::string_view kAmpere =
    "cp.async, ldmatrix, redux.sync and mma.sync for fp16, bf16, tf32 and int8. It does not have TMA, thread block "
    "clusters, wgmma or fp8";

constexpr ArchitectureFacts kArchitectures[] = {
    {75, 64, 64, 1024, 16,
     "ldmatrix and mma.sync for fp16 and int8. It does not have cp.async, TMA, thread block clusters, wgmma, bf16, "
     "tf32 "
     "or fp8"},
    {80, 164, 163, 2048, 32, kAmpere},
    {86, 100, 99, 1536, 16, kAmpere},
    {87, 164, 163, 1536, 16, kAmpere},
    {89, 100, 99, 1536, 24,
     "cp.async, ldmatrix, redux.sync and mma.sync for fp8, fp16, bf16, tf32 and int8. It does not have TMA "
     "(cp.async.bulk), thread block clusters, distributed shared memory, wgmma or setmaxnreg"},
    {90, 228, 227, 2048, 32,
     "cp.async, TMA (cp.async.bulk with mbarrier), thread block clusters of up to 8 with distributed shared memory, "
     "ldmatrix and stmatrix, redux.sync, mma.sync and wgmma for fp8, fp16, bf16, tf32 and int8. wgmma and setmaxnreg "
     "need \"min_arch\": \"sm_90a\" in the plan; mma.sync alone reaches some 60 % of the tensor cores' peak"},
    {100, 228, 227, 2048, 32,
     "cp.async, TMA, thread block clusters with distributed shared memory, mma.sync and tcgen05. It does not have "
     "wgmma"},
    {103, 228, 227, 2048, 32,
     "cp.async, TMA, thread block clusters with distributed shared memory, mma.sync and tcgen05. It does not have "
     "wgmma"},
    {120, 100, 99, 1536, 24,
     "cp.async, TMA, thread block clusters and mma.sync for fp4, fp8, fp16, bf16, tf32 and int8. It does not have "
     "wgmma "
     "or tcgen05"},
};

// 0: not said.
struct ProductFacts {
  std::string_view name;  // whole words of the device's name; the first that fits
  double terabytes_per_second;
  int l2_mb;
  double fp64_tflops;  // these two on CUDA cores, the others on tensor cores
  double fp32_tflops;
  double tf32_tflops;
  double half_tflops;  // fp16 and bf16, sums in fp32
  double fp8_tflops;
};

constexpr ProductFacts kProducts[] = {
    {"GH200 480GB", 4.0, 0, 34, 67, 494, 989, 1979},
    {"GH200", 4.9, 0, 34, 67, 494, 989, 1979},
    {"H200 NVL", 4.8, 50, 30, 60, 418, 836, 1671},
    {"H200", 4.8, 50, 34, 67, 494, 989, 1979},
    {"H100 NVL", 3.94, 50, 30, 60, 418, 835, 1671},
    {"H100 PCIe", 2.04, 50, 26, 51, 378, 756, 1513},
    {"H100", 3.35, 50, 34, 67, 494, 989, 1979},
    {"B200", 8.0, 0, 37, 75, 1100, 2250, 4500},
    {"L40S", 0.864, 96, 1.4, 91.6, 183, 362, 733},
    {"L40", 0.864, 96, 1.4, 90.5, 90.5, 181, 362},
    {"L4", 0.3, 48, 0, 30.3, 60, 121, 242},
    {"A100-SXM4-80GB", 2.04, 40, 9.7, 19.5, 156, 312, 0},
    {"A100 80GB", 1.94, 40, 9.7, 19.5, 156, 312, 0},
    {"A100", 1.56, 40, 9.7, 19.5, 156, 312, 0},
    {"A10G", 0.6, 6, 0, 35, 35, 70, 0},
    {"A10", 0.6, 6, 0, 31.2, 62.5, 125, 0},
    {"RTX 6000 Ada", 0.96, 96, 1.4, 91.1, 182, 364, 728},
    {"RTX 4090", 1.01, 72, 1.3, 82.6, 82.6, 165, 330},
    {"Tesla T4", 0.32, 4, 0, 8.1, 0, 65, 0},
};

constexpr std::string_view kEmulated =
    "An emulated device: the file is compiled for the CPU, the threads of a block run as fibers on one core, and "
    "blocks run one after the other or on few cores. Shared memory, barriers, shuffles, votes, atomics, half and "
    "bfloat16 work, with the limits of sm_80 (48 KB of shared memory by default, 163 KB at most a block, 1024 threads "
    "a "
    "block). It cannot run inline PTX, WMMA or mma instructions, asynchronous copies, TMA, clusters and fp8. What is "
    "fast here: few instructions and barriers, work without synchronisation between threads, contiguous loops, little "
    "recomputation.";

bool HasWords(std::string_view text, std::string_view words) {
  auto part_of_a_word = [&](size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) {
    if ((at == 0 || !part_of_a_word(at - 1)) && !part_of_a_word(at + words.size())) return true;
  }
  return false;
}

const ProductFacts* Product(std::string_view name) {
  for (const ProductFacts& facts : kProducts) {
    if (HasWords(name, facts.name)) return &facts;
  }
  return nullptr;
}

std::string Rates(const ProductFacts& facts) {
  std::string text = " Peak TFLOP/s, dense: ";
  if (facts.fp64_tflops > 0) text += fmt::format("{:g} fp64 and ", facts.fp64_tflops);
  text += fmt::format("{:g} fp32 on CUDA cores; ", facts.fp32_tflops);
  if (facts.tf32_tflops > 0) text += fmt::format("{:g} tf32, ", facts.tf32_tflops);
  text += fmt::format("{:g} fp16 or bf16", facts.half_tflops);
  if (facts.fp8_tflops > 0) text += fmt::format(", {:g} fp8", facts.fp8_tflops);
  return text + fmt::format(
                    " on tensor cores. A kernel is bound by memory below {:.0f} fp32 operations, or {:.0f} of fp16 on "
                    "tensor cores, for each byte of device memory moved.",
                    facts.fp32_tflops / facts.terabytes_per_second, facts.half_tflops / facts.terabytes_per_second);
}

}  // namespace

std::string DescribeDevice(const v1::DeviceDescription& device) {
  if (device.emulated()) return std::string(kEmulated);
  const int capability = device.compute_capability();
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
        " An SM has 65536 32-bit registers (255 a thread at most), {} KB of shared memory ({} KB at most a block, "
        "above "
        "48 KB as dynamic), and runs up to {} threads in up to {} blocks. It has {}.",
        facts.shared_kb_per_sm, facts.shared_kb_per_block, facts.threads_per_sm, facts.blocks_per_sm,
        facts.instructions);
  }
  const ProductFacts* product = Product(device.name());
  // The board's own word on its cache and, for boards without a row, on its memory.
  const double bandwidth = product != nullptr ? product->terabytes_per_second : device.memory_bandwidth() * 1e-12;
  if (bandwidth > 0) text += fmt::format(" Device memory: {:.3g} TB/s.", bandwidth);
  const double l2_mb = device.l2_bytes() > 0 ? static_cast<double>(device.l2_bytes()) / (1 << 20)
                       : product != nullptr  ? product->l2_mb
                                             : 0;
  if (l2_mb > 0) text += fmt::format(" L2: {:.0f} MB.", l2_mb);
  if (product != nullptr) text += Rates(*product);
  return text;
}

}  // namespace warpsmith::gateway
