// Honest kernels: values, arguments, and what is refused, through real executor processes.
#include <cmath>
#include <limits>

#include "tests/gpu_worker/executor/honest_bench.h"

namespace warpsmith::executor {
namespace {

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
  SharedBuffer missing;
  missing.path = "/dev/shm/warpsmith-no-such-file";
  missing.payload_bytes = 16;
  spec.slots.push_back({missing});
  spec.artifact_path = "/nonexistent.so";
  absl::StatusOr<std::unique_ptr<Executor>> started = Factory().Start(spec);
  REQUIRE(!started.ok());
  REQUIRE_THAT(Message(started.status()), Catch::Contains("warpsmith-no-such-file"));
}

}  // namespace
}  // namespace warpsmith::executor
