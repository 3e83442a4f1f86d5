// Honest kernels: blocks, warps, grids, launches and time, through real executor processes.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/gpu_worker/executor/honest_bench.h"

namespace warpsmith::executor {
namespace {

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
