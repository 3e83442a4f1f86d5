#include "tests/gpu/library/step_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace warpsmith::library {

v1::LibraryStep MakeStep(const std::string& function, const std::string& compute, const Arrays& arrays) {
  v1::LibraryStep step;
  step.set_function(function);
  step.set_compute(compute);
  uint32_t buffer = 0;
  for (const auto& [name, array] : arrays) (*step.mutable_operands())[name].set_buffer(buffer++);
  return step;
}

StepRunner::StepRunner(const Gpu& gpu) : gpu_(gpu) {
  auto runner = LibraryRunner::Create(gpu.api(), {});
  Require(runner.status());
  runner_ = *std::move(runner);
}

void StepRunner::Report(bool passed, const std::string& name, const std::string& figures) {
  ++checks_;
  failures_ += passed ? 0 : 1;
  std::printf("%s %-52s %s\n", passed ? "ok    " : "FAILED", name.c_str(), figures.c_str());
  std::fflush(stdout);
}

absl::Status StepRunner::Prepare(const v1::LibraryStep& step, const Arrays& arrays, int* index) {
  std::vector<const GpuArray*> buffers;
  for (const auto& [name, array] : arrays) buffers.push_back(array);
  *index = runner_->prepared();
  return runner_->Prepare(step, [&](const v1::BufferView& view) -> absl::StatusOr<Operand> {
    const GpuArray& array = *buffers.at(view.buffer());
    return Operand{array.address() + static_cast<CUdeviceptr>(view.offset_bytes()), array.dtype()};
  });
}

absl::Status StepRunner::RunOnStream(int index) {
  WARPSMITH_RETURN_IF_ERROR(runner_->Enqueue(index, gpu_.stream()));
  return cuda::CudaStatus(gpu_.api(), gpu_.api().cuStreamSynchronize(gpu_.stream()), "the stream");
}

absl::StatusOr<CUgraphExec> StepRunner::Capture(int index) {
  const cuda::DriverApi& api = gpu_.api();
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(
      api, api.cuStreamBeginCapture(gpu_.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "beginning a capture"));
  absl::Status enqueued = runner_->Enqueue(index, gpu_.stream());
  CUgraph graph = nullptr;
  const CUresult end = api.cuStreamEndCapture(gpu_.stream(), &graph);
  WARPSMITH_RETURN_IF_ERROR(enqueued);
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, end, "ending a capture"));
  CUgraphExec executable = nullptr;
  const CUresult made = api.cuGraphInstantiateWithFlags(&executable, graph, 0);
  api.cuGraphDestroy(graph);
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, made, "making a graph"));
  return executable;
}

void StepRunner::Check(const std::string& name, const v1::LibraryStep& step, const Arrays& arrays,
                       const std::string& target, const Values& expected, double tolerance, bool required) {
  const GpuArray& out = *arrays.at(target);
  out.Restore();
  int index = 0;
  if (absl::Status status = Prepare(step, arrays, &index); !status.ok()) {
    const bool allowed = !required && status.code() == absl::StatusCode::kFailedPrecondition;
    return Report(allowed, name, (allowed ? "not offered: " : "") + Message(status));
  }
  // Nothing but Enqueue may write the target.
  const bool untouched = out.Download() == out.values();
  if (absl::Status status = RunOnStream(index); !status.ok()) return Report(false, name, Message(status));
  const Values streamed = out.Download();
  out.Restore();
  auto graph = Capture(index);
  if (!graph.ok()) return Report(false, name, "in a graph: " + Message(graph.status()));
  Values replayed;
  for (int i = 0; i < 2; ++i) {
    out.Restore();
    gpu_.Check(gpu_.api().cuGraphLaunch(*graph, gpu_.stream()), "a graph");
    gpu_.Wait();
    replayed = out.Download();
  }
  gpu_.api().cuGraphExecDestroy(*graph);
  const Difference first = Compare(expected, streamed), second = Compare(expected, replayed);
  const bool right = first.largest <= tolerance * 8 && first.rms <= tolerance && second.largest <= tolerance * 8 &&
                     second.rms <= tolerance && untouched;
  Report(right, name,
         fmt::format("rms {:.1e} max {:.1e}; in a graph {:.1e} {:.1e}; allowed {:.0e}{}; {}", first.rms, first.largest,
                     second.rms, second.largest, tolerance, untouched ? "" : "; Prepare wrote the target",
                     runner_->Describe(index)));
}

void StepRunner::CheckRefused(const std::string& name, const v1::LibraryStep& step, const Arrays& arrays,
                              const std::string& text) {
  int index = 0;
  const absl::Status status = Prepare(step, arrays, &index);
  Report(!status.ok() && Message(status).find(text) != std::string::npos, name,
         status.ok() ? "was taken" : Message(status));
}

void StepRunner::Time(const std::string& name, const v1::LibraryStep& step, const Arrays& arrays, double operations,
                      double h200_ms) {
  const auto start = std::chrono::steady_clock::now();
  int index = 0;
  if (absl::Status status = Prepare(step, arrays, &index); !status.ok()) return Report(false, name, Message(status));
  const double prepare = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto graph = Capture(index);
  if (!graph.ok()) return Report(false, name, Message(graph.status()));
  const cuda::DriverApi& api = gpu_.api();
  constexpr size_t kFlushBytes = size_t{256} << 20;
  CUdeviceptr flush = 0;
  CUevent begin = nullptr, end = nullptr;
  gpu_.Check(api.cuMemAlloc(&flush, kFlushBytes), "memory to flush caches with");
  gpu_.Check(api.cuEventCreate(&begin, CU_EVENT_DEFAULT), "an event");
  gpu_.Check(api.cuEventCreate(&end, CU_EVENT_DEFAULT), "an event");
  std::vector<float> samples;
  for (int i = 0; i < 23; ++i) {
    gpu_.Check(api.cuMemsetD8Async(flush, static_cast<unsigned char>(i), kFlushBytes, gpu_.stream()), "a flush");
    gpu_.Check(api.cuEventRecord(begin, gpu_.stream()), "an event");
    gpu_.Check(api.cuGraphLaunch(*graph, gpu_.stream()), "a graph");
    gpu_.Check(api.cuEventRecord(end, gpu_.stream()), "an event");
    gpu_.Wait();
    float milliseconds = 0;
    gpu_.Check(api.cuEventElapsedTime(&milliseconds, begin, end), "a time");
    if (i >= 3) samples.push_back(milliseconds);
  }
  api.cuEventDestroy(begin);
  api.cuEventDestroy(end);
  api.cuMemFree(flush);
  api.cuGraphExecDestroy(*graph);
  std::sort(samples.begin(), samples.end());
  const double median = (samples[9] + samples[10]) / 2.0;
  const bool known = gpu_.name().find("H200") != std::string::npos && h200_ms > 0;
  Report(
      !known || median <= 1.3 * h200_ms, name,
      fmt::format("{:.4f} ms, {:.1f} TFLOP/s{}; prepared in {:.3f} s; {}", median, operations / median / 1e9,
                  known ? fmt::format(", at most 1.3 times {:.3f}", h200_ms) : "", prepare, runner_->Describe(index)));
}

}  // namespace warpsmith::library
