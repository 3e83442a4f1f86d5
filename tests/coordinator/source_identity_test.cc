// Which sources are the same program under other names, and which are not.
#include "coordinator/store/source_identity.h"

#include <catch2/catch.hpp>
#include <random>

#include "coordinator/store/text.h"

namespace warpsmith::store {
namespace {

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = 0;
  size_t times = 0;
  while ((at = text.find(from, at)) != std::string::npos) {
    text.replace(at, from.size(), to);
    at += to.size();
    ++times;
  }
  REQUIRE(times > 0);
  return text;
}

constexpr char kKernels[] = R"(/* warpsmith-plan
{"version": 1, "tune": {"TILE": [32, 64]}, "options": ["-DWIDE=1"],
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [16]}],
 "steps": [{"kernel": "reduce_rows<256>", "grid": [16], "block": [256], "args": ["x", "partial", {"i32": 64}]},
           {"kernel": "finish", "grid": [1], "block": [32], "args": ["partial", "output"]}]} */
#include <cuda_fp16.h>
#define SQUARE(v) ((v) * (v))
constexpr int kWarp = 32;
__device__ __forceinline__ float combine(float left, float right) { return left + right; }
template <int THREADS>
__global__ void __launch_bounds__(THREADS) reduce_rows(const float* __restrict__ x, float* partial, int columns) {
  __shared__ float4 tile[TILE];
  extern __shared__ float memory[];
  float sum = 0.f, rest = 1.f;
  for (int i = threadIdx.x; i < columns; i += THREADS) {
    const float value = x[blockIdx.x * columns + i];
    sum = combine(sum, SQUARE(value)) + rest;
    tile[i % kWarp].x = expf(value);  // a remark
  }
  memory[threadIdx.x] = sum;
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
extern "C" __global__ void finish(const float* partial, float* output) {
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += partial[i];
  asm volatile("mov.b32 %0, %0;" : "+f"(sum));
  *output = sum;
}
)";

bool Same(const std::string& a, const std::string& b) { return RenameSource(a) == RenameSource(b); }

TEST_CASE("names of the file's own do not make another program", "[unit]") {
  const std::string base = kKernels;
  REQUIRE(RenameSource(base).rfind("renamed\n", 0) == 0);
  CHECK(Same(base, Replaced(base, "columns", "width")));         // a parameter
  CHECK(Same(base, Replaced(base, "combine", "add_up")));        // a function
  CHECK(Same(base, Replaced(base, "reduce_rows", "k1")));        // a kernel, in the plan too
  CHECK(Same(base, Replaced(base, "finish", "last_step")));      // extern "C"
  CHECK(Same(base, Replaced(base, "kWarp", "kLanes")));          // a constant
  CHECK(Same(base, Replaced(base, "THREADS", "BLOCK")));         // a template parameter
  CHECK(Same(base, Replaced(base, "memory", "shared_values")));  // dynamic shared memory
  CHECK(Same(base, Replaced(base, " rest", " other")));          // the second name of a declaration
  CHECK(Same(base, Replaced(base, "float sum = 0;", "float  sum=0; // from here")));
  // Each function's own names are its own.
  const std::string one = Replaced(base, "float sum = 0;\n", "float total = 0;\n");
  const std::string other =
      Replaced(Replaced(Replaced(one, "++i) sum +=", "++i) total +="), "\"+f\"(sum)", "\"+f\"(total)"), "*output = sum",
               "*output = total");
  CHECK(Same(base, other));
  CHECK(NormalizeSource(base) != NormalizeSource(other));
  CHECK(!Same(base, one));
}

TEST_CASE("whatever else is different makes another program", "[unit]") {
  const std::string base = kKernels;
  CHECK(!Same(base, Replaced(base, "left + right", "right + left")));
  CHECK(!Same(base, Replaced(base, "expf", "exp2f")));  // built in
  CHECK(!Same(base, Replaced(base, "threadIdx.x == 0", "threadIdx.y == 0")));
  CHECK(!Same(base, Replaced(base, "].x = ", "].y = ")));    // a member
  CHECK(!Same(base, Replaced(base, "float4", "int4")));      // a type
  CHECK(!Same(base, Replaced(base, "SQUARE", "SQR")));       // a macro
  CHECK(!Same(base, Replaced(base, "TILE", "TILES")));       // a tuning value
  CHECK(!Same(base, Replaced(base, "mov.b32", "mov.f32")));  // a literal
  CHECK(!Same(base, Replaced(base, "\"grid\": [16]", "\"grid\": [8]")));
  CHECK(!Same(base, Replaced(base, "\"x\", \"partial\"", "\"y\", \"partial\"")));  // a tensor
  CHECK(!Same(base, Replaced(base, "kWarp = 32", "kWarp = 16")));
  // Two names become one.
  CHECK(!Same(base, Replaced(base, "right", "left")));
  // The plan's kernels swapped.
  CHECK(!Same(base, Replaced(Replaced(Replaced(base, "\"finish\"", "\"#\""), "\"reduce_rows<256>\"", "\"finish\""),
                             "\"#\"", "\"reduce_rows<256>\"")));
}

TEST_CASE("a name that may mean something elsewhere stays", "[unit]") {
  const auto file = [](const std::string& code) {
    return "/* warpsmith-plan {\"version\": 1, \"steps\": [{\"kernel\": \"k\"}]} */\n" + code;
  };
  const auto same = [&](const std::string& a, const std::string& b) { return Same(file(a), file(b)); };
  CHECK(same("__global__ void k(float* a) { int b = 1; a[b] = 0; }",
             "__global__ void k(float* c) { int d = 1; c[d] = 0; }"));
  // Used where it is not declared: a header's constant, perhaps.
  CHECK(!same("__global__ void k(float* a) { a[0] = kOne; }", "__global__ void k(float* a) { a[0] = kTwo; }"));
  CHECK(!same("__device__ void f() { int kOne = 0; } __global__ void k(float* a) { a[0] = kOne; }",
              "__device__ void f() { int kTwo = 0; } __global__ void k(float* a) { a[0] = kTwo; }"));
  // Called, though it is a variable in another place.
  CHECK(!same("__global__ void k(float* a) { { float fast = 1; } a[0] = fast(2.f); }",
              "__global__ void k(float* a) { { float slow = 1; } a[0] = slow(2.f); }"));
  // A function that overloads a built-in one.
  CHECK(
      !same("__device__ float min(float a, float b) { return a; } __global__ void k(float* a) { a[0] = min(1, 2); }",
            "__device__ float low(float a, float b) { return a; } __global__ void k(float* a) { a[0] = low(1, 2); }"));
  // Kernels in a block: the plan's name is text, so it stays in the code.
  CHECK(!same("extern \"C\" { __global__ void k(float* a) { a[0] = 1; } __global__ void m(float* a) { a[0] = 2; } }",
              "extern \"C\" { __global__ void m(float* a) { a[0] = 1; } __global__ void k(float* a) { a[0] = 2; } }"));
  // Members, namespaces.
  CHECK(!same("struct P { float u; float v; }; __global__ void k(P* p) { p->u = 1; }",
              "struct P { float u; float v; }; __global__ void k(P* p) { p->v = 1; }"));
  CHECK(!same("__global__ void k(float* a) { a[0] = one::f; }", "__global__ void k(float* a) { a[0] = two::f; }"));
  // Macros that make text of names: nothing is renamed.
  CHECK(!same("#define S(x) #x\n__global__ void k(float* a) { int b; }",
              "#define S(x) #x\n__global__ void k(float* a) { int c; }"));
  CHECK(!same("__global__ void k(float* a) { int b; f(__func__); }",
              "__global__ void k(float* a) { int c; f(__func__); }"));
}

TEST_CASE("what cannot be renamed is only normalized", "[unit]") {
  for (const std::string source : {"", "int a;", "/* warpsmith-plan {} ", "/* warpsmith-plan {\"a\": } */ int a;",
                                   "/* other */ int a;", "/* warpsmith-plan {\"k\": \"\\u0061\"} */ int a;",
                                   "/* warpsmith-plan {} */ int f() { ", "/* warpsmith-plan {} */ int f() } { ",
                                   "/* warpsmith-plan {} */ auto s = R\"(x)\";", "/* warpsmith-plan {} */ \"open",
                                   "/* warpsmith-plan {} */\n#define A /* x\n */ 1\n", "/* warpsmith-plan {} */ $a"}) {
    CHECK(RenameSource(source) == NormalizeSource(source));
  }
  CHECK(RenameSource("/* warpsmith-plan {} */ int f(int a) { return 1'000 + 'a' + a; }") ==
        RenameSource("/* warpsmith-plan {} */ int g(int b) { return 1'000 + 'a' + b; }"));
}

TEST_CASE("any bytes are taken", "[property]") {
  std::mt19937 random(5);
  const std::string base = kKernels;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = base.substr(0, 350 + random() % (base.size() - 350));
    for (int change = 0; change < 4; ++change) {
      static constexpr char kBytes[] = "{}()[]<>,;:\"'\\/*#@$\n a0";
      text[random() % text.size()] =
          random() % 8 == 0 ? static_cast<char>(random()) : kBytes[random() % (sizeof(kBytes) - 1)];
    }
    CHECK(RenameSource(text) == RenameSource(text));
  }
}

}  // namespace
}  // namespace warpsmith::store
