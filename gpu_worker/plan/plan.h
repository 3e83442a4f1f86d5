// The launch plan as parsed: typed, names not yet resolved, repeats not yet unrolled.
// Threading: plain values. Units: bytes, elements (offsets), threads. Errors: none here; the parser makes it.
#ifndef WARPSMITH_GPU_WORKER_PLAN_PLAN_H_
#define WARPSMITH_GPU_WORKER_PLAN_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gpu_worker/plan/expression.h"

namespace warpsmith::plan {

struct ScratchTensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;  // empty: one element
  bool persistent = false;     // written by prepare, kept over runs
};

struct View {
  std::string tensor;
  Expression offset;  // elements
};

enum class LiteralType { kBool, kI8, kU8, kI32, kU32, kI64, kU64, kF16, kBf16, kF32, kF64 };

struct Literal {
  LiteralType type = LiteralType::kI32;
  Expression integer;             // integer types
  std::optional<uint64_t> large;  // u64 above INT64_MAX, in place of `integer`
  double number = 0;              // floating-point types
};

// A TMA descriptor over a whole tensor.
struct TensorMapArgument {
  std::string tensor;
  std::vector<int64_t> box;  // innermost first, elements
  std::string swizzle = "none";
};

using Argument = std::variant<View, Literal, TensorMapArgument>;

struct KernelStep {
  std::string kernel;  // "f" or "f<128,4>"
  std::vector<Expression> grid;
  std::vector<Expression> block;
  Expression shared_bytes;
  std::vector<int64_t> cluster;  // empty: none
  bool cooperative = false;
  std::vector<Argument> args;
};

struct MemsetStep {
  std::string tensor;
  uint32_t value = 0;
  uint32_t width = 1;  // bytes
};

struct CopyStep {
  std::string source;
  std::string target;
};

struct LibraryStep {
  std::string function;  // gemm, gemm_strided_batched, conv_forward, attention_forward
  std::string compute;   // fp32, tf32, fp16, bf16
  std::map<std::string, Expression> integers;
  std::map<std::string, double> scalars;
  std::map<std::string, View> operands;
  std::map<std::string, std::string> enums;
};

struct Step;

struct RepeatStep {
  Expression count;
  std::string index;  // empty: none
  std::vector<Step> steps;
};

struct Step {
  std::variant<KernelStep, MemsetStep, CopyStep, LibraryStep, RepeatStep> value;
};

// sm_90, sm_90a, sm_100f.
struct Architecture {
  int number = 0;
  char suffix = 0;  // 0, 'a' or 'f'
};

struct TuneParameter {
  std::string name;
  std::vector<int64_t> values;  // at least one, all different
};

struct Plan {
  std::vector<ScratchTensor> scratch;
  std::vector<Step> prepare;
  std::vector<Step> steps;
  std::vector<std::string> options;
  std::optional<Architecture> min_arch;
  std::vector<TuneParameter> tune;  // by name
};

// Distinct kernel names in order of first use, prepare first: what the compiler is asked for.
std::vector<std::string> KernelNames(const Plan& plan);

bool UsesLibrary(const Plan& plan);

// What in the plan only a GPU can do ("library step gemm", "TMA descriptor", "thread block cluster"); nullopt: nothing.
std::optional<std::string> NeedsGpuFeature(const Plan& plan);

// The architecture to compile for: the device's number with the plan's suffix, e.g. "sm_90a".
std::string CompileArchitecture(const Plan& plan, int compute_capability);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_PLAN_H_
