// Honest kernels: what the emulated device computes, through real executor processes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "tests/gpu_worker/executor/bench.h"

namespace warpsmith::executor {
namespace {

enum Kernel : uint32_t {
  kVectorAdd,
  kBlockSum128,
  kBlockSum1024,
  kSoftmax,
  kGridSteps,
  kHistogram,
  kHalves,
  kVotes,
  kOrder,
  kIncrement,
  kIntegers,
  kPrint,
  kHeap,
  kSharedState,
  kByValue,
  kChained,
  kWrite,
  kIndex,
  kY1,
  kMath
};

const std::string& Code() {
  static const std::string& code =
      *new std::string(*ReadFile(std::string(WARPSMITH_SOURCE_DIR) + "/tests/gpu_worker/executor/kernels.cu"));
  return code;
}

struct HonestBench : Bench {
  HonestBench()
      : Bench(Code(),
              {"vector_add", "block_sum<128>", "block_sum<1024>", "softmax",  "grid_steps", "histogram", "halves",
               "votes",      "order",          "increment",       "integers", "print",      "heap",      "shared_state",
               "by_value",   "chained",        "write",           "index",    "y1",         "math"}) {}
  void RequireOk(const RunRequest& request = {}) {
    RunReport report = Run(request);
    INFO(report.message);
    REQUIRE(report.outcome == v1::OUTCOME_OK);
  }
};

RunRequest Seeded(uint64_t seed) {
  RunRequest request;
  request.order_seed = seed;
  return request;
}

std::vector<float> Ramp(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = scale * static_cast<float>((i * 37 + 11) % 101) - 20 * scale;
  return values;
}

TEST_CASE("vector add") {
  HonestBench bench;
  std::vector<float> x = Ramp(1000, 0.5f), y = Ramp(1000, 0.25f);
  uint32_t a = bench.Add(x), b = bench.Add(y), c = bench.Add(std::vector<float>(1000));
  bench.Launch(kVectorAdd, 3, 64, {Bench::Tensor(a), Bench::Tensor(b), Bench::Tensor(c), Bench::Value(1000)});
  bench.RequireOk(Seeded(5));
  std::vector<float> z = bench.Read<float>(c);
  for (size_t i = 0; i < z.size(); ++i) REQUIRE(z[i] == x[i] + y[i]);
  REQUIRE(bench.GuardsIntact(c));
}

TEST_CASE("block reduction with shared memory and shuffles, two template instances") {
  HonestBench bench;
  std::vector<float> x = Ramp(6 * 500, 1);
  uint32_t a = bench.Add(x), narrow = bench.Add(std::vector<float>(6)), wide = bench.Add(std::vector<float>(6));
  bench.Launch(kBlockSum128, 6, 128, {Bench::Tensor(a), Bench::Tensor(narrow), Bench::Value(500)});
  bench.Launch(kBlockSum1024, 6, 1024, {Bench::Tensor(a), Bench::Tensor(wide), Bench::Value(500)});
  for (uint64_t seed : {0, 1, 2, 3}) {
    bench.RequireOk(Seeded(seed));
    for (size_t row = 0; row < 6; ++row) {
      float sum =
          std::accumulate(x.begin() + static_cast<long>(row) * 500, x.begin() + static_cast<long>(row + 1) * 500, 0.0f);
      REQUIRE(bench.Read<float>(narrow)[row] == Approx(sum));
      REQUIRE(bench.Read<float>(wide)[row] == Approx(sum));
    }
  }
}

TEST_CASE("softmax with barriers and a dynamic shared array") {
  HonestBench bench;
  std::vector<float> x = Ramp(4 * 256, 0.1f);
  uint32_t a = bench.Add(x), b = bench.Add(std::vector<float>(x.size()));
  bench.Launch(kSoftmax, 4, 96, {Bench::Tensor(a), Bench::Tensor(b), Bench::Value(256)}).set_dynamic_shared_bytes(1024);
  for (uint64_t seed : {0, 7}) {
    bench.RequireOk(Seeded(seed));
    std::vector<float> y = bench.Read<float>(b);
    for (size_t row = 0; row < 4; ++row) {
      double most = -1e30, sum = 0;
      for (size_t i = 0; i < 256; ++i) most = std::max(most, double{x[row * 256 + i]});
      for (size_t i = 0; i < 256; ++i) sum += std::exp(x[row * 256 + i] - most);
      for (size_t i = 0; i < 256; ++i) REQUIRE(y[row * 256 + i] == Approx(std::exp(x[row * 256 + i] - most) / sum));
    }
  }
}

TEST_CASE("a cooperative launch synchronises the grid and keeps each block's shared memory") {
  HonestBench bench;
  uint32_t counters = bench.Add(std::vector<int>(2)), out = bench.Add(std::vector<int>(8 * 64));
  v1::MemsetStep& memset = *bench.plan().add_steps()->mutable_memset();
  memset.mutable_view()->set_buffer(counters);
  memset.set_width(4);
  memset.set_count(2);
  bench.Launch(kGridSteps, 8, 64, {Bench::Tensor(counters), Bench::Tensor(out)}).set_cooperative(true);
  for (uint64_t seed : {0, 9}) {
    bench.RequireOk(Seeded(seed));
    std::vector<int> got = bench.Read<int>(out);
    for (int i = 0; i < 512; ++i) REQUIRE(got[static_cast<size_t>(i)] == i / 64 * 1000 + 1);
  }
}

TEST_CASE("a cooperative launch that is too large needs a GPU") {
  HonestBench bench;
  uint32_t counters = bench.Add(std::vector<int>(2)), out = bench.Add(std::vector<int>(64));
  bench.Launch(kGridSteps, 1000, 1024, {Bench::Tensor(counters), Bench::Tensor(out)}).set_cooperative(true);
  RunReport report = bench.Run();
  REQUIRE(report.outcome == v1::OUTCOME_NEEDS_GPU);
  REQUIRE(bench.Run().outcome == v1::OUTCOME_NEEDS_GPU);
}

TEST_CASE("atomics") {
  HonestBench bench;
  std::vector<int> x(5000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * i % 1009);
  uint32_t a = bench.Add(x), bins = bench.Add(std::vector<unsigned>(16)), sum = bench.Add(std::vector<float>(1)),
           wide = bench.Add(std::vector<uint64_t>(1));
  bench.Launch(kHistogram, 5, 128,
               {Bench::Tensor(a), Bench::Value(5000), Bench::Tensor(bins), Bench::Tensor(sum), Bench::Tensor(wide)});
  bench.RequireOk(Seeded(3));
  std::vector<unsigned> expected(16);
  for (int v : x) ++expected[static_cast<size_t>(v & 15)];
  REQUIRE(bench.Read<unsigned>(bins) == expected);
  REQUIRE(bench.Read<float>(sum)[0] == 2500.0f);
  REQUIRE(bench.Read<uint64_t>(wide)[0] == 1008);
}

TEST_CASE("half and bfloat16 arithmetic is exact") {
  HonestBench bench;
  // 1.5, 0.3330078125, -0.25, 2 in half; 1.5 and 0.333984375 in bfloat16.
  uint32_t a = bench.Add(std::vector<uint16_t>{0x3e00, 0x3554, 0xb400, 0x4000});
  uint32_t b = bench.Add(std::vector<uint16_t>{0x3fc0, 0x3eab});
  uint32_t h = bench.Add(std::vector<uint16_t>(11)), f = bench.Add(std::vector<uint16_t>(5)),
           out = bench.Add(std::vector<float>(3));
  bench.Launch(kHalves, 1, 1,
               {Bench::Tensor(a), Bench::Tensor(b), Bench::Tensor(h), Bench::Tensor(f), Bench::Tensor(out)});
  bench.RequireOk();
  std::vector<uint16_t> got = bench.Read<uint16_t>(h);
  // 1.8330078125 -> 0x3f55; 0.49951171875 -> 0x37fe; 0.24951171875 -> 0x33fc.
  REQUIRE(got[0] == 0x3f55);
  REQUIRE(got[1] == 0x37fe);
  REQUIRE(got[2] == 0x33fc);
  REQUIRE(got[3] == 0x7c00);
  REQUIRE(got[4] == 0x7bff);
  REQUIRE(got[5] == 0x0000);
  REQUIRE(got[6] == 0x3da8);   // sqrt(2) = 1.4140625
  REQUIRE(got[7] == 0x3e00);   // a NaN loses
  REQUIRE(got[8] == 0x4280);   // 3.25
  REQUIRE(got[9] == 0x3c72);   // 1.11089...: 1 + 0.11089... rounds to 1.111328125
  REQUIRE(got[10] == 0x6800);  // 2048
  std::vector<uint16_t> brain = bench.Read<uint16_t>(f);
  REQUIRE(brain[0] == 0x3feb);  // 1.833984375 -> 1.8359375
  REQUIRE(brain[1] == 0x3f00);  // 0.5009765625 -> 0.5
  REQUIRE(brain[2] == 0x3f80);
  REQUIRE(brain[3] == 0x3f82);
  REQUIRE(brain[4] == 0x3f81);
  std::vector<float> floats = bench.Read<float>(out);
  REQUIRE(floats[0] == 3.0f);
  REQUIRE(floats[1] == 1.0f);
  REQUIRE(floats[2] == -2.0f);
}

TEST_CASE("votes, matches, reductions, tiles and lanes that have ended") {
  HonestBench bench;
  uint32_t out = bench.Add(std::vector<unsigned>(11 * 64));
  bench.Launch(kVotes, 1, 64, {Bench::Tensor(out)});
  for (uint64_t seed : {0, 4, 5}) {
    bench.RequireOk(Seeded(seed));
    std::vector<unsigned> got = bench.Read<unsigned>(out);
    unsigned third = 0;
    for (unsigned lane = 0; lane < 32; lane += 3) third |= 1u << lane;
    for (unsigned t = 0; t < 64; ++t) {
      unsigned lane = t % 32;
      REQUIRE(got[t] == third);
      REQUIRE(got[64 + t] == 0xffu << (lane / 8 * 8));
      REQUIRE(got[128 + t] == 496);
      REQUIRE(got[192 + t] == (lane ^ 5));
      REQUIRE(got[256 + t] == (lane % 16 < 3 ? lane : lane - 3));
      REQUIRE(got[320 + t] == 0);  // all ones and 1
      if (lane < 10) REQUIRE(got[384 + t] == 10);
      REQUIRE(got[448 + t] == 110);
      REQUIRE(got[512 + t] == (t / 8 * 8) * 8 + 28);
      REQUIRE(got[576 + t] == t % 8 + 1 + t / 8 * 100);
      if (lane < 16) REQUIRE(got[640 + t] == 0xffff);
    }
  }
}

TEST_CASE("the order of blocks and threads follows the seed") {
  HonestBench bench;
  uint32_t ticket = bench.Add(std::vector<unsigned>(1)), out = bench.Add(std::vector<unsigned>(16 * 64));
  v1::MemsetStep& memset = *bench.plan().add_steps()->mutable_memset();
  memset.mutable_view()->set_buffer(ticket);
  memset.set_width(4);
  memset.set_count(1);
  bench.Launch(kOrder, 16, 64, {Bench::Tensor(ticket), Bench::Tensor(out)});
  std::vector<unsigned> natural(16 * 64);
  std::iota(natural.begin(), natural.end(), 0u);
  std::set<std::vector<unsigned>> seen;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    bench.RequireOk(Seeded(seed));
    std::vector<unsigned> order = bench.Read<unsigned>(out);
    if (seed == 0) REQUIRE(order == natural);
    seen.insert(order);
    std::sort(order.begin(), order.end());
    REQUIRE(order == natural);
  }
  REQUIRE(seen.size() == 5);
}

TEST_CASE("2,000 launches, repeated runs, and timing over slots") {
  HonestBench bench;
  bench.set_slots(2);
  uint32_t x = bench.Add(std::vector<int>(32));
  for (int i = 0; i < 2000; ++i) bench.Launch(kIncrement, 1, 32, {Bench::Tensor(x)});
  RunRequest request;
  request.repetitions = 3;
  bench.RequireOk(request);
  REQUIRE(bench.Read<int>(x) == std::vector<int>(32, 6000));
  REQUIRE(bench.Read<int>(x, 1) == std::vector<int>(32, 0));
  TimeRequest time;
  time.slots = {0, 1};
  time.warmups = 2;
  time.samples = 4;
  RunReport report = bench.executor().Time(time);
  REQUIRE(report.outcome == v1::OUTCOME_OK);
  REQUIRE(report.samples.size() == 4);
  double sum = 0;
  for (double seconds : report.samples) {
    REQUIRE(seconds > 0);
    sum += seconds;
  }
  REQUIRE(report.device_seconds == Approx(sum));
  REQUIRE(report.host_seconds >= sum);
  REQUIRE(bench.Read<int>(x) == std::vector<int>(32, 12000));
  REQUIRE(bench.Read<int>(x, 1) == std::vector<int>(32, 6000));
}

TEST_CASE("memsets of every width and copies") {
  HonestBench bench;
  uint32_t x = bench.Add(std::vector<uint32_t>(8, 0x11111111)), y = bench.Add(std::vector<uint32_t>(8));
  auto memset = [&](int64_t offset, uint32_t value, uint32_t width, int64_t count) {
    v1::MemsetStep& step = *bench.plan().add_steps()->mutable_memset();
    step.mutable_view()->set_buffer(x);
    step.mutable_view()->set_offset_bytes(offset);
    step.set_value(value);
    step.set_width(width);
    step.set_count(count);
  };
  memset(0, 0xab, 1, 5);
  memset(8, 0xbeef, 2, 3);
  memset(16, 0x12345678, 4, 1);
  v1::CopyStep& copy = *bench.plan().add_steps()->mutable_copy();
  copy.mutable_source()->set_buffer(x);
  copy.mutable_target()->set_buffer(y);
  copy.mutable_target()->set_offset_bytes(4);
  copy.set_bytes(20);
  bench.RequireOk();
  REQUIRE(bench.Read<uint32_t>(x) == std::vector<uint32_t>{0xabababab, 0x111111ab, 0xbeefbeef, 0x1111beef, 0x12345678,
                                                           0x11111111, 0x11111111, 0x11111111});
  REQUIRE(bench.Read<uint32_t>(y) ==
          std::vector<uint32_t>{0, 0xabababab, 0x111111ab, 0xbeefbeef, 0x1111beef, 0x12345678, 0, 0});
}

TEST_CASE("integers as a GPU has them") {
  HonestBench bench;
  constexpr int kLeast = std::numeric_limits<int>::min();
  uint32_t x = bench.Add(std::vector<int>{0, kLeast, -1, 7}), out = bench.Add(std::vector<int>(15));
  bench.Launch(kIntegers, 1, 1, {Bench::Tensor(x), Bench::Tensor(out)});
  bench.RequireOk();
  REQUIRE(bench.Read<int>(out) == std::vector<int>{-1, 7, kLeast, 0, -1, 0, 0, std::numeric_limits<int>::max(), 0, 3204,
                                                   0x07050301, -1, 15, 3, 7});
}

TEST_CASE("printing and the heap") {
  HonestBench bench;
  uint32_t out = bench.Add(std::vector<int>(2));
  bench.Launch(kPrint, 1, 2, {Bench::Value(3)});
  bench.Launch(kHeap, 1, 1, {Bench::Tensor(out)});
  RunReport report = bench.Run();
  REQUIRE(report.outcome == v1::OUTCOME_OK);
  REQUIRE(report.message == "printed: thread 0 says hello 1.50\nthread 1 says hello 1.50\n");
  REQUIRE(bench.Read<int>(out) == std::vector<int>{6, 7});
}

TEST_CASE("shared memory starts filled as asked in every block") {
  HonestBench bench;
  uint32_t out = bench.Add(std::vector<uint32_t>(8));
  bench.Launch(kSharedState, 4, 1, {Bench::Tensor(out)}).set_dynamic_shared_bytes(64);
  for (uint32_t fill : {kSharedPoison, kSharedLargeFinite}) {
    RunRequest request;
    request.shared_fill = fill;
    bench.RequireOk(request);
    REQUIRE(bench.Read<uint32_t>(out) == std::vector<uint32_t>(8, fill));
  }
}

TEST_CASE("arguments by value") {
  struct Pack {
    float a;
    double b;
    int c[3];
  };
  HonestBench bench;
  uint32_t out = bench.Add(std::vector<float>(2));
  bench.Launch(kByValue, 1, 1,
               {Bench::Value(Pack{1.5f, 2.25, {0, 0, 7}}), Bench::Tensor(out), Bench::Value(short{-3}),
                Bench::Value(true), Bench::Value(uint16_t{0x3800}), Bench::Value(uint64_t{1000})});
  bench.RequireOk();
  REQUIRE(bench.Read<float>(out) == std::vector<float>{1108.25f, 5.0f});
}

TEST_CASE("wrong arguments are refused") {
  HonestBench bench;
  uint32_t out = bench.Add(std::vector<float>(2));
  bench.Launch(kPrint, 1, 1, {Bench::Tensor(out)});
  RunReport report = bench.Run();
  REQUIRE(report.outcome == v1::OUTCOME_LAUNCH_ERROR);
  REQUIRE_THAT(report.message, Catch::Contains("argument 0 has 8 bytes"));
}

TEST_CASE("blocks that wait for one another run beside each other") {
  HonestBench bench;
  uint32_t state = bench.Add(std::vector<unsigned>(2)), out = bench.Add(std::vector<int>(20));
  v1::MemsetStep& memset = *bench.plan().add_steps()->mutable_memset();
  memset.mutable_view()->set_buffer(state);
  memset.set_width(4);
  memset.set_count(2);
  bench.Launch(kChained, 20, 32, {Bench::Tensor(state), Bench::Tensor(out)});
  for (uint64_t seed : {0, 1, 2}) {
    bench.RequireOk(Seeded(seed));
    std::vector<int> expected(20);
    std::iota(expected.begin(), expected.end(), 1);
    REQUIRE(bench.Read<int>(out) == expected);
  }
}

TEST_CASE("kernels may have names that the C library has") {
  HonestBench bench;
  uint32_t x = bench.Add(std::vector<int>(3));
  for (Kernel kernel : {kWrite, kIndex, kY1}) bench.Launch(kernel, 1, 1, {Bench::Tensor(x)});
  bench.RequireOk();
  REQUIRE(bench.Read<int>(x) == std::vector<int>{42, 43, 44});
}

TEST_CASE("mathematical functions") {
  HonestBench bench;
  uint32_t x = bench.Add(std::vector<float>{1.0f, 4.0f}), out = bench.Add(std::vector<float>(12));
  bench.Launch(kMath, 1, 1, {Bench::Tensor(x), Bench::Tensor(out)});
  bench.RequireOk();
  std::vector<float> got = bench.Read<float>(out);
  REQUIRE(got[0] == 1.0f);
  REQUIRE(got[1] == 1.0f);
  REQUIRE(got[2] == 0.5f);
  REQUIRE(got[3] == Approx(0.8427007929));
  REQUIRE(got[4] == Approx(0.8413447461));
  REQUIRE(got[5] == Approx(0.4769362762));
  REQUIRE(got[6] == Approx(18.0));
  REQUIRE(got[7] == std::nextafterf(1.0f, 0.0f));
  REQUIRE(got[8] == 0x1.555556p-2f);
  REQUIRE(got[9] == 0.0f);
  REQUIRE(got[10] == 7.0f);
  REQUIRE(got[11] == 1.0f);
}

TEST_CASE("what only a GPU can do is told at compile time") {
  for (auto [code, feature] : std::vector<std::pair<std::string, std::string>>{
           {"__global__ void k(int* x) { asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(x[0])); }", "inline assembly"},
           {"#include <mma.h>\n__global__ void k(int* x) {}", "WMMA"},
           {"#include <cuda/barrier>\n__global__ void k(int* x) {}", "cuda::barrier"},
           {"#include <cuda_pipeline.h>\n__global__ void k(int* x) {}", "asynchronous copies"},
           {"__global__ void __cluster_dims__(2, 1, 1) k(int* x) {}", "thread block clusters"}}) {
    std::string errors = BuildErrors(code, {"k"});
    REQUIRE_THAT(errors, Catch::Contains("WARPSMITH_NEEDS_GPU " + feature));
  }
}

TEST_CASE("a library step needs a GPU") {
  HonestBench bench;
  bench.Add(std::vector<float>(4));
  bench.plan().add_steps()->mutable_library()->set_function("gemm");
  REQUIRE(bench.Run().outcome == v1::OUTCOME_NEEDS_GPU);
}

TEST_CASE("specs that do not fit are the caller's fault") {
  HonestBench bench;
  uint32_t x = bench.Add(std::vector<float>(4));
  bench.Launch(kIncrement, 1, 1, {Bench::Tensor(x)});
  ExecutorSpec spec;
  spec.plan = bench.plan();
  REQUIRE(Factory().Start(spec).status().code() == absl::StatusCode::kInvalidArgument);
  spec.slots.push_back({{"/dev/shm/warpsmith-no-such-file", 0, 16}});
  spec.artifact_path = "/nonexistent.so";
  absl::StatusOr<std::unique_ptr<Executor>> started = Factory().Start(spec);
  REQUIRE(!started.ok());
  REQUIRE_THAT(Message(started.status()), Catch::Contains("warpsmith-no-such-file"));
}

// How fast the emulated device is, for people to read; hidden.
TEST_CASE("throughput", "[.][benchmark]") {
  HonestBench bench;
  constexpr int kCount = 1 << 20;
  uint32_t a = bench.Add(Ramp(kCount, 0.5f)), b = bench.Add(Ramp(kCount, 0.25f)),
           c = bench.Add(std::vector<float>(kCount));
  std::string what = GENERATE("vector_add", "block_sum", "softmax");
  if (what == "vector_add") {
    bench.Launch(kVectorAdd, kCount / 256, 256,
                 {Bench::Tensor(a), Bench::Tensor(b), Bench::Tensor(c), Bench::Value(kCount)});
  } else if (what == "block_sum") {
    bench.Launch(kBlockSum1024, 1024, 1024, {Bench::Tensor(a), Bench::Tensor(c), Bench::Value(1024)});
  } else {
    bench.Launch(kSoftmax, 1024, 256, {Bench::Tensor(a), Bench::Tensor(c), Bench::Value(1024)})
        .set_dynamic_shared_bytes(4096);
  }
  TimeRequest time;
  time.slots = {0};
  time.limit_seconds = 60;
  RunReport report = bench.executor().Time(time);
  REQUIRE(report.outcome == v1::OUTCOME_OK);
  WARN(what << ": " << *std::min_element(report.samples.begin(), report.samples.end()) * 1e3
            << " ms for 2^20 elements");
}

}  // namespace
}  // namespace warpsmith::executor
