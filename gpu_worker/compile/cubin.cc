#include "gpu_worker/compile/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gpu_worker/compile/elf_reader.h"

namespace warpsmith::compile {
namespace {

constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kMaxThreads = 0x05, kRequiredThreads = 0x10, kFrameSize = 0x11, kKernelParameter = 0x17,
                  kRegisterCount = 0x2f, kKernelParameterV2 = 0x45;
constexpr int kMaxParameters = 4096;

struct Record {
  uint8_t attribute;
  std::string_view data;  // of sized records only
};

// Calls visit for each record of a .nv.info section.
template <typename Visit>
absl::Status ForEachRecord(std::string_view section, Visit visit) {
  size_t at = 0;
  while (at + 4 <= section.size()) {
    uint8_t format = section[at];
    uint8_t attribute = section[at + 1];
    uint16_t size = *ReadAt<uint16_t>(section, at + 2);
    at += 4;
    std::string_view data;
    if (format == kFormatSized) {
      if (size > section.size() - at) return InvalidArgument("the cubin's kernel information is cut off");
      data = section.substr(at, size);
      at += size;
    }
    visit(Record{attribute, data});
  }
  return absl::OkStatus();
}

// Threads that registers allow: a warp takes registers in units of 256, and warps are given out four at a time.
int32_t ThreadsByRegisters(int32_t registers) {
  if (registers <= 0) return 1024;
  int32_t a_warp = (registers * 32 + 255) / 256 * 256;
  int32_t warps = 65536 / a_warp / 4 * 4;
  return std::clamp(warps * 32, 32, 1024);
}

absl::Status ReadKernel(const ElfSection& information, CubinKernel& kernel) {
  std::vector<std::pair<uint16_t, CubinParameter>> parameters;
  int64_t bound = 0;
  WARPSMITH_RETURN_IF_ERROR(ForEachRecord(information.data, [&](const Record& record) {
    if (record.attribute == kKernelParameter || record.attribute == kKernelParameterV2) {
      auto ordinal = ReadAt<uint16_t>(record.data, 4);
      auto offset = ReadAt<uint16_t>(record.data, 6);
      auto packed = ReadAt<uint32_t>(record.data, 8);
      if (!ordinal || !offset || !packed || parameters.size() >= kMaxParameters) return;
      int32_t size = static_cast<int32_t>(*packed >> 18);
      if (record.attribute == kKernelParameterV2) size = static_cast<int32_t>(std::min<uint32_t>(*packed, 65535));
      parameters.push_back({*ordinal, {*offset, size}});
    } else if (record.attribute == kMaxThreads || record.attribute == kRequiredThreads) {
      int64_t product = 1;
      for (int i = 0; i < 3; ++i) {
        product *= std::clamp<int64_t>(ReadAt<uint32_t>(record.data, 4 * i).value_or(1), 1, 1024);
      }
      bound = bound == 0 ? product : std::min(bound, product);
    }
  }));
  std::sort(parameters.begin(), parameters.end(), [](auto& a, auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].first != i) return InvalidArgument("the cubin lists a kernel's parameters with gaps");
    kernel.parameters.push_back(parameters[i].second);
  }
  if (bound > 0) kernel.max_threads_per_block = static_cast<int32_t>(std::min<int64_t>(bound, 1024));
  return absl::OkStatus();
}

int32_t Clamped(uint64_t value) {
  return static_cast<int32_t>(std::min<uint64_t>(value, std::numeric_limits<int32_t>::max()));
}

uint64_t AddSaturating(uint64_t a, uint64_t b) {
  return b > std::numeric_limits<uint64_t>::max() - a ? std::numeric_limits<uint64_t>::max() : a + b;
}

// A section's size is kept modulo 2^32 (seen: none at all for an array of 256 GiB), its symbols' sizes are not: the
// larger of the two counts.
uint64_t ModuleBytes(const ElfFile& file, const std::vector<ElfSymbol>& symbols) {
  std::vector<uint64_t> by_symbols(file.sections().size());
  for (const ElfSymbol& symbol : symbols) {
    if (!symbol.Object() || symbol.section >= by_symbols.size()) continue;
    by_symbols[symbol.section] = AddSaturating(by_symbols[symbol.section], symbol.size);
  }
  uint64_t total = 0;
  for (size_t i = 0; i < by_symbols.size(); ++i) {
    const ElfSection& section = file.sections()[i];
    if (section.Allocated()) total = AddSaturating(total, std::max(section.size, by_symbols[i]));
  }
  return total;
}

}  // namespace

absl::StatusOr<Cubin> ReadCubin(std::string_view bytes) {
  WARPSMITH_ASSIGN_OR_RETURN(ElfFile file, ElfFile::Parse(bytes));
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<ElfSymbol> symbols, file.Symbols(2));
  Cubin cubin;
  constexpr std::string_view kInfo = ".nv.info.";
  // From sm_90 on a kernel's section includes the kilobyte that the system keeps; the driver's figure does not.
  uint64_t reserved = file.Find(".nv.shared.reserved.0") != nullptr ? 1024 : 0;
  for (const ElfSection& section : file.sections()) {
    if (section.name.substr(0, kInfo.size()) != kInfo) continue;
    CubinKernel kernel;
    kernel.symbol = section.name.substr(kInfo.size());
    // Device functions that are called have such a section too; a kernel has its own constant bank.
    if (file.Find(".nv.constant0." + kernel.symbol) == nullptr) continue;
    WARPSMITH_RETURN_IF_ERROR(ReadKernel(section, kernel));
    if (const ElfSection* shared = file.Find(".nv.shared." + kernel.symbol)) {
      kernel.static_shared_bytes = Clamped(shared->size - std::min(shared->size, reserved));
    }
    cubin.kernels.push_back(std::move(kernel));
  }
  if (const ElfSection* all = file.Find(".nv.info")) {
    WARPSMITH_RETURN_IF_ERROR(ForEachRecord(all->data, [&](const Record& record) {
      if (record.attribute != kRegisterCount && record.attribute != kFrameSize) return;
      auto index = ReadAt<uint32_t>(record.data, 0);
      auto value = ReadAt<uint32_t>(record.data, 4);
      if (!index || !value || *index >= symbols.size()) return;
      for (CubinKernel& kernel : cubin.kernels) {
        if (kernel.symbol != symbols[*index].name) continue;
        (record.attribute == kRegisterCount ? kernel.registers : kernel.local_bytes) = Clamped(*value);
      }
    }));
  }
  for (CubinKernel& kernel : cubin.kernels) {
    kernel.max_threads_per_block = std::min(kernel.max_threads_per_block, ThreadsByRegisters(kernel.registers));
  }
  cubin.module_bytes = ModuleBytes(file, symbols);
  return cubin;
}

}  // namespace warpsmith::compile
