#include "gpu_worker/compile/host_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "gpu_worker/compile/elf_reader.h"
#include "gpu_worker/plan/kernel_interface.h"

namespace warpsmith::compile {
namespace {

constexpr uint8_t kThreadLocal = 6, kIndirectFunction = 10;
constexpr uint32_t kLoad = 1, kThreadLocalSegment = 7;
constexpr uint32_t kSymbolTable = 2, kDynamicSymbols = 11;

// Functions of the C library that a compiler calls on its own or that stand for CUDA's mathematical functions; each may
// have a suffix for float or long double.
const std::set<std::string_view>& DeviceFunctions() {
  static const auto& names = *new std::set<std::string_view>{"memcpy",
                                                             "memset",
                                                             "memmove",
                                                             "memcmp",
                                                             "strlen",
                                                             "abort",
                                                             "acos",
                                                             "acosh",
                                                             "asin",
                                                             "asinh",
                                                             "atan",
                                                             "atan2",
                                                             "atanh",
                                                             "cbrt",
                                                             "ceil",
                                                             "copysign",
                                                             "cos",
                                                             "cosh",
                                                             "erf",
                                                             "erfc",
                                                             "exp",
                                                             "exp2",
                                                             "exp10",
                                                             "expm1",
                                                             "fabs",
                                                             "fdim",
                                                             "floor",
                                                             "fma",
                                                             "fmax",
                                                             "fmin",
                                                             "fmod",
                                                             "frexp",
                                                             "hypot",
                                                             "ilogb",
                                                             "j0",
                                                             "j1",
                                                             "jn",
                                                             "ldexp",
                                                             "lgamma",
                                                             "llrint",
                                                             "llround",
                                                             "log",
                                                             "log10",
                                                             "log1p",
                                                             "log2",
                                                             "logb",
                                                             "lrint",
                                                             "lround",
                                                             "modf",
                                                             "nan",
                                                             "nearbyint",
                                                             "nextafter",
                                                             "pow",
                                                             "remainder",
                                                             "remquo",
                                                             "rint",
                                                             "round",
                                                             "roundeven",
                                                             "scalbln",
                                                             "scalbn",
                                                             "sin",
                                                             "sincos",
                                                             "sinh",
                                                             "sqrt",
                                                             "tan",
                                                             "tanh",
                                                             "tgamma",
                                                             "trunc",
                                                             "y0",
                                                             "y1",
                                                             "yn",
                                                             "__tls_get_addr",
                                                             "_GLOBAL_OFFSET_TABLE_"};
  return names;
}

bool IsDeviceFunction(std::string_view name) {
  if (name.find("warpsmith") != std::string_view::npos) return true;
  if (DeviceFunctions().count(name) != 0) return true;
  if (name.empty() || (name.back() != 'f' && name.back() != 'l')) return false;
  return DeviceFunctions().count(name.substr(0, name.size() - 1)) != 0;
}

bool HoldsState(const ElfSection& section) {
  static constexpr std::array kNotState = {
      ".warpsmith_shared", ".warpsmith_constant", ".data.rel.ro", ".dynamic", ".got",
      ".got.plt",          ".init_array",         ".fini_array"};
  if (!section.Writable() || section.ThreadLocal()) return false;
  return std::none_of(kNotState.begin(), kNotState.end(), [&](std::string_view name) {
    return section.name == name || section.name.substr(0, name.size() + 1) == std::string(name) + ".";
  });
}

bool RunsAtLoad(const ElfFile& file, const std::vector<ElfSymbol>& symbols) {
  for (const ElfSection& section : file.sections()) {
    bool array = section.type == 14 || section.type == 15 || section.type == 16;  // init, fini and preinit arrays
    std::string_view name = section.name;
    bool code = name == ".init" || name == ".fini" || name.substr(0, 6) == ".ctors" || name.substr(0, 6) == ".dtors";
    if ((array || code) && section.size > 0) return true;
  }
  return std::any_of(symbols.begin(), symbols.end(),
                     [](const ElfSymbol& symbol) { return symbol.type == kIndirectFunction && symbol.section != 0; });
}

absl::StatusOr<wire::Kernel> ReadKernel(const ElfFile& file, const std::vector<ElfSymbol>& exported, int index) {
  std::string descriptor_name = fmt::format("warpsmith_kernel_{}", index);
  std::string invoke_name = fmt::format("warpsmith_invoke_{}", index);
  auto find = [&](std::string_view name) {
    return std::find_if(exported.begin(), exported.end(), [&](const ElfSymbol& symbol) {
      return symbol.name == name && symbol.section != 0 && symbol.visibility == 0;
    });
  };
  auto symbol = find(descriptor_name);
  if (symbol == exported.end() || find(invoke_name) == exported.end()) {
    return InvalidArgument(fmt::format("kernel {} was not registered", index));
  }
  auto bytes = file.ReadOnlyBytes(symbol->value, sizeof(KernelDescriptor));
  if (!bytes) return InvalidArgument(fmt::format("the description of kernel {} is not constant", index));
  KernelDescriptor descriptor = *ReadAt<KernelDescriptor>(*bytes, 0);
  if (descriptor.magic != KernelDescriptor::kMagic || descriptor.parameter_count > KernelDescriptor::kMaxParameters ||
      descriptor.static_shared_bytes > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
    return InvalidArgument(fmt::format("the description of kernel {} is damaged", index));
  }
  wire::Kernel kernel;
  kernel.set_symbol(invoke_name);
  kernel.set_static_shared_bytes(static_cast<int32_t>(descriptor.static_shared_bytes));
  kernel.set_max_threads_per_block(
      descriptor.max_threads == 0 ? 1024 : static_cast<int32_t>(std::min<uint32_t>(descriptor.max_threads, 1024)));
  int32_t offset = 0;
  for (uint32_t i = 0; i < descriptor.parameter_count; ++i) {
    auto [kind, size] = descriptor.parameters[i];
    if (kind > static_cast<uint32_t>(plan::ParameterKind::kStruct) || size > 65536) {
      return InvalidArgument(fmt::format("parameter {} of kernel {} is damaged", i, index));
    }
    wire::Parameter* parameter = kernel.add_parameters();
    parameter->set_kind(static_cast<int>(kind));
    parameter->set_size(static_cast<int32_t>(size));
    parameter->set_offset(offset);  // in a buffer of our own: arguments go by pointer
    offset += (static_cast<int32_t>(size) + 7) / 8 * 8;
  }
  return kernel;
}

}  // namespace

absl::StatusOr<HostObject> ReadHostObject(std::string_view bytes, int kernel_count) {
  WARPSMITH_ASSIGN_OR_RETURN(ElfFile file, ElfFile::Parse(bytes));
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<ElfSymbol> exported, file.Symbols(kDynamicSymbols));
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<ElfSymbol> symbols, file.Symbols(kSymbolTable));
  HostObject object;
  for (int i = 0; i < kernel_count; ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(wire::Kernel kernel, ReadKernel(file, exported, i));
    object.kernels.push_back(std::move(kernel));
  }
  for (const ElfSymbol& symbol : symbols) {
    if (!symbol.Object() || symbol.size == 0 || symbol.section >= file.sections().size()) continue;
    if (symbol.section != 0 && HoldsState(file.sections()[symbol.section])) {
      object.writable_variables.emplace_back(symbol.name);
    }
  }
  for (const ElfSymbol& symbol : exported) {
    // An undefined thread-local symbol is a dynamic shared array.
    if (symbol.section != 0 || symbol.type == kThreadLocal || symbol.name.empty()) continue;
    if (IsDeviceFunction(symbol.name)) continue;
    object.foreign_functions.emplace_back(symbol.name);
  }
  object.runs_at_load = RunsAtLoad(file, symbols) || RunsAtLoad(file, exported);
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != kLoad && segment.type != kThreadLocalSegment) continue;
    uint64_t room = std::numeric_limits<uint64_t>::max() - object.memory_bytes;
    object.memory_bytes += std::min(segment.memory_size, room);
  }
  return object;
}

}  // namespace warpsmith::compile
