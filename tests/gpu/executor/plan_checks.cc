#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tests/gpu/executor/candidates.h"
#include "tests/gpu/executor/checks.h"

namespace warpsmith::executor {
namespace {

using View = v1::KernelArgument;

// Runs twice: step by step the first time, as a graph the second. `reset` restores what the plan changes.
void RunTwice(Gpu& gpu, ExecutorFactory& factory, Candidate& candidate, const std::string& name, uint32_t output,
              const std::vector<float>& expected, const std::vector<float>& before) {
  auto executor = candidate.Start(factory);
  if (!executor.ok()) return gpu.Report(false, name, Message(executor.status()));
  std::string figures;
  bool good = true;
  for (int i = 0; i < 2; ++i) {
    candidate.Write(output, before);
    RunReport report = (*executor)->Run({});
    std::vector<float> values = candidate.Read<float>(output);
    bool right = report.outcome == v1::OUTCOME_OK && report.launch_mode == "graph" && values == expected;
    if (!right) {
      auto wrong = std::mismatch(values.begin(), values.end(), expected.begin()).first - values.begin();
      figures += fmt::format(" run {}: {} {} {}; first difference at {}", i, Name(report.outcome), report.launch_mode,
                             report.message, wrong);
    }
    good = good && right;
  }
  gpu.Report(good && candidate.GuardsIntact(), name, figures);
}

void CheckShared(Gpu& gpu, ExecutorFactory& factory) {
  const int bytes = gpu.Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  const int count = bytes / 4;
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  Candidate candidate(gpu, kShared, {"reverse"});
  uint32_t x = candidate.Add(values);
  uint32_t y = candidate.Add(std::vector<float>(values.size()), v1::BUFFER_KIND_OUTPUT);
  candidate.Launch(0, 1, 256, {Candidate::View(x), Candidate::View(y), Candidate::Value(count)})
      .set_dynamic_shared_bytes(static_cast<uint32_t>(bytes));
  std::vector<float> expected(values.rbegin(), values.rend());
  RunTwice(gpu, factory, candidate, fmt::format("{} bytes of shared memory", bytes), y, expected,
           std::vector<float>(values.size(), -1));
}

void CheckCooperative(Gpu& gpu, ExecutorFactory& factory) {
  const auto blocks = static_cast<uint32_t>(2 * gpu.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  const int count = static_cast<int>(blocks) * 128;
  Candidate candidate(gpu, kCooperative, {"two_phases"});
  uint32_t part = candidate.AddBytes(4 * blocks, v1::BUFFER_KIND_SCRATCH);
  std::vector<float> zeros(static_cast<size_t>(count));
  uint32_t y = candidate.Add(zeros, v1::BUFFER_KIND_OUTPUT);
  candidate.Launch(0, blocks, 128, {Candidate::View(part), Candidate::View(y), Candidate::Value(count)})
      .set_cooperative(true);
  const float sum = static_cast<float>(blocks) * static_cast<float>(blocks + 1) / 2;
  RunTwice(gpu, factory, candidate, "cooperative launch", y, std::vector<float>(zeros.size(), sum), zeros);

  Candidate large(gpu, kCooperative, {"two_phases"});
  part = large.AddBytes(4 << 20, v1::BUFFER_KIND_SCRATCH);
  y = large.Add(zeros, v1::BUFFER_KIND_OUTPUT);
  large.Launch(0, 1 << 20, 128, {Candidate::View(part), Candidate::View(y), Candidate::Value(count)})
      .set_cooperative(true);
  auto executor = large.Start(factory);
  RunReport report = executor.ok() ? (*executor)->Run({}) : RunReport{};
  gpu.Report(report.outcome == v1::OUTCOME_LAUNCH_ERROR && report.message.find("two_phases") != std::string::npos,
             "cooperative grid that does not fit", report.message);
}

void CheckHopper(Gpu& gpu, ExecutorFactory& factory) {
  if (gpu.capability() < 90) return gpu.Report(true, "clusters and tensor maps", "left out below sm_90");
  {
    Candidate candidate(gpu, kCluster, {"neighbours"});
    std::vector<float> zeros(16), expected(16);
    for (int block = 0; block < 16; ++block) {
      expected[static_cast<size_t>(block)] = static_cast<float>(block / 4 * 4 + (block + 1) % 4 + 4000);
    }
    uint32_t y = candidate.Add(zeros, v1::BUFFER_KIND_OUTPUT);
    candidate.Launch(0, 16, 64, {Candidate::View(y)}).add_cluster(4);
    RunTwice(gpu, factory, candidate, "cluster of 4", y, expected, zeros);
  }
  constexpr int kColumns = 128, kRows = 64;
  std::vector<float> values(kColumns * kRows), expected(values.size());
  std::iota(values.begin(), values.end(), 0.0f);
  for (size_t i = 0; i < values.size(); ++i) expected[i] = 2 * values[i];
  Candidate candidate(gpu, kTensorMap, {"tiles"}, 2);
  uint32_t x = candidate.Add(values);
  uint32_t y = candidate.Add(std::vector<float>(values.size()), v1::BUFFER_KIND_OUTPUT);
  v1::KernelArgument map;
  map.mutable_tensor_map()->mutable_view()->set_buffer(x);
  map.mutable_tensor_map()->set_dtype("float32");
  map.mutable_tensor_map()->set_swizzle("none");
  map.mutable_tensor_map()->add_shape(kColumns);
  map.mutable_tensor_map()->add_shape(kRows);
  map.mutable_tensor_map()->add_stride_bytes(4 * kColumns);
  map.mutable_tensor_map()->add_box(32);
  map.mutable_tensor_map()->add_box(16);
  candidate.Launch(0, kColumns / 32, 128, {map, Candidate::View(y), Candidate::Value(kColumns)}).set_grid_y(kRows / 16);
  RunTwice(gpu, factory, candidate, "tensor map", y, expected, std::vector<float>(values.size(), -1));
}

void CheckStepKinds(Gpu& gpu, ExecutorFactory& factory) {
  constexpr int kCount = 4096;
  Candidate candidate(gpu, kPlain, {"scale", "add_one", "times<3>"});
  std::vector<float> values(kCount), expected(kCount), before(kCount, -5);
  std::iota(values.begin(), values.end(), 0.0f);
  uint32_t x = candidate.Add(values);
  uint32_t y = candidate.Add(before, v1::BUFFER_KIND_OUTPUT);
  uint32_t scratch = candidate.Add(before, v1::BUFFER_KIND_SCRATCH);
  auto set = [&candidate](uint32_t buffer, int64_t offset, uint32_t value, uint32_t width, int64_t count) {
    v1::MemsetStep& step = *candidate.plan.add_steps()->mutable_memset();
    step.mutable_view()->set_buffer(buffer);
    step.mutable_view()->set_offset_bytes(offset);
    step.set_value(value);
    step.set_width(width);
    step.set_count(count);
  };
  candidate.Launch(0, 16, 256,
                   {Candidate::View(x), Candidate::View(scratch), Candidate::Value(kCount), Candidate::Value(2.0f)});
  v1::CopyStep& copy = *candidate.plan.add_steps()->mutable_copy();
  copy.mutable_source()->set_buffer(scratch);
  copy.mutable_target()->set_buffer(y);
  copy.set_bytes(4 * kCount);
  for (int repeat = 0; repeat < 10; ++repeat) {  // a repeat, expanded: views that move on
    const int64_t offset = 4 * 256 * repeat;
    candidate.Launch(1, 1, 256, {Candidate::View(y, offset), Candidate::Value(256)});
  }
  candidate.Launch(2, 16, 256, {Candidate::View(y), Candidate::Value(kCount)});
  set(y, 0, 0x3f800000, 4, 16);     // 1.0f
  set(y, 4 * 16, 0x4000, 2, 32);    // 0x40004000
  set(y, 4 * 32, 0x41, 1, 4 * 16);  // 0x41414141
  set(y, 4 * 48, 0, 4, 0);          // nothing
  for (int i = 0; i < kCount; ++i) {
    float value = 2 * values[static_cast<size_t>(i)] + (i < 2560 ? 1.0f : 0.0f);
    const uint32_t words[] = {0x3f800000, 0x40004000, 0x41414141};
    value *= 3;
    if (i < 48) std::memcpy(&value, &words[i / 16], 4);
    expected[static_cast<size_t>(i)] = value;
  }
  RunTwice(gpu, factory, candidate, "kernels, views, a template instance, copy, memset of 1, 2 and 4 bytes", y,
           expected, before);
}

// Packs a parameter before the steps; the parameter changes between requests.
void CheckPrepare(Gpu& gpu, ExecutorFactory& factory) {
  constexpr int kCount = 1 << 20;
  Candidate candidate(gpu, kPlain, {"scale"});
  uint32_t weight = candidate.Add(std::vector<float>(kCount, 3));
  uint32_t packed = candidate.AddBytes(4 * kCount, v1::BUFFER_KIND_SCRATCH, /*persistent=*/true);
  uint32_t y = candidate.Add(std::vector<float>(kCount), v1::BUFFER_KIND_OUTPUT);
  candidate.Launch(
      0, kCount / 256, 256,
      {Candidate::View(weight), Candidate::View(packed), Candidate::Value(kCount), Candidate::Value(10.0f)},
      /*prepare=*/true);
  candidate.Launch(0, kCount / 256, 256,
                   {Candidate::View(packed), Candidate::View(y), Candidate::Value(kCount), Candidate::Value(1.0f)});
  auto executor = candidate.Start(factory);
  if (!executor.ok()) return gpu.Report(false, "prepare steps", Message(executor.status()));
  RunReport first = (*executor)->Run({});
  bool good = candidate.Read<float>(y) == std::vector<float>(kCount, 30);
  candidate.Write(weight, std::vector<float>(kCount, 4));
  RunReport second = (*executor)->Run({});
  good = good && candidate.Read<float>(y) == std::vector<float>(kCount, 40);
  candidate.Write(weight, std::vector<float>(kCount, 5));
  TimeRequest time;
  time.slots = {0};
  RunReport timed = (*executor)->Time(time);
  good = good && candidate.Read<float>(y) == std::vector<float>(kCount, 50) && timed.samples.size() == 10;
  gpu.Report(good && second.prepare_seconds > 0 && second.prepare_seconds < 0.01, "prepare steps",
             fmt::format("{:.1f} us {} {}", 1e6 * second.prepare_seconds, first.message, timed.message));
}

void CheckLibrary(Gpu& gpu, ExecutorFactory& factory) {
  constexpr int kSide = 256;
  Candidate candidate(gpu, kPlain, {"add_one"});
  std::vector<float> a(kSide * kSide, 2), b(kSide * kSide, 3), zeros(a.size());
  uint32_t ia = candidate.Add(a), ib = candidate.Add(b);
  uint32_t ic = candidate.Add(zeros, v1::BUFFER_KIND_OUTPUT);
  v1::LibraryStep& step = *candidate.plan.add_steps()->mutable_library();
  step.set_function("gemm");
  step.set_compute("fp32");
  for (const char* name : {"transa", "transb"}) (*step.mutable_enums())[name] = "N";
  (*step.mutable_scalars())["alpha"] = 1;
  (*step.mutable_scalars())["beta"] = 0;
  for (const char* name : {"m", "n", "k", "lda", "ldb", "ldc"}) (*step.mutable_integers())[name] = kSide;
  (*step.mutable_operands())["A"].set_buffer(ia);
  (*step.mutable_operands())["B"].set_buffer(ib);
  (*step.mutable_operands())["C"].set_buffer(ic);
  candidate.Launch(0, kSide * kSide / 256, 256, {Candidate::View(ic), Candidate::Value(kSide * kSide)});
  candidate.plan.set_uses_library(true);
  RunTwice(gpu, factory, candidate, "cuBLAS step and a kernel", ic, std::vector<float>(a.size(), 6 * kSide + 1), zeros);
}

}  // namespace

void CheckPlans(Gpu& gpu, ExecutorFactory& factory) {
  CheckStepKinds(gpu, factory);
  CheckShared(gpu, factory);
  CheckCooperative(gpu, factory);
  CheckHopper(gpu, factory);
  CheckPrepare(gpu, factory);
  CheckLibrary(gpu, factory);
}

}  // namespace warpsmith::executor
