
// ---- Runs it on made-up inputs and times it -------------------------------------------------------------------------

namespace warpsmith {

// Uniform in [0, 1): the same numbers in every run. Integers become 0, which is an index everywhere.
template <typename Value>
__global__ void MakeUp(Value* data, size_t count, unsigned seed) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < count; i += size_t{256} * gridDim.x) {
    unsigned h = static_cast<unsigned>(i) * 2654435761u + seed;
    h = (h ^ (h >> 15)) * 2246822519u;
    h ^= h >> 13;
    data[i] = static_cast<Value>(static_cast<float>(h >> 8) * (1.0f / 16777216.0f));
  }
}

inline void MakeUpTensor(void* data, const Tensor& tensor, unsigned seed) {
  const size_t count = tensor.bytes / tensor.element_bytes;
  if (count == 0) return;
  if (tensor.type == 'f' && tensor.element_bytes == 4) MakeUp<<<1024, 256>>>(static_cast<float*>(data), count, seed);
  if (tensor.type == 'f' && tensor.element_bytes == 8) MakeUp<<<1024, 256>>>(static_cast<double*>(data), count, seed);
  if (tensor.type == 'h') MakeUp<<<1024, 256>>>(static_cast<__half*>(data), count, seed);
  if (tensor.type == 'b') MakeUp<<<1024, 256>>>(static_cast<__nv_bfloat16*>(data), count, seed);
}

}  // namespace warpsmith

int main() {
  constexpr int kTensors = sizeof(warpsmith::kTensor) / sizeof(warpsmith::kTensor[0]);
  constexpr int kRuns = 20;
  cudaDeviceProp device;
  warpsmith::Check(cudaGetDeviceProperties(&device, 0), "no GPU");
  void* data[kTensors];
  size_t inputs = 0, outputs = 0;
  for (int i = 0; i < kTensors; ++i) {
    const warpsmith::Tensor& tensor = warpsmith::kTensor[i];
    warpsmith::Check(cudaMalloc(&data[i], tensor.bytes + 256), tensor.name);
    warpsmith::Check(cudaMemset(data[i], 0, tensor.bytes), tensor.name);
    if (tensor.role == 'i') warpsmith::MakeUpTensor(data[i], tensor, static_cast<unsigned>(i) + 1);
    (tensor.role == 'o' ? outputs : inputs) += tensor.bytes;
  }
  warpsmith::Prepare(data, device.multiProcessorCount, nullptr);
  for (int i = 0; i < 3; ++i) warpsmith::Run(data, device.multiProcessorCount, nullptr);
  cudaEvent_t start, end;
  warpsmith::Check(cudaEventCreate(&start), "event");
  warpsmith::Check(cudaEventCreate(&end), "event");
  warpsmith::Check(cudaEventRecord(start), "event");
  for (int i = 0; i < kRuns; ++i) warpsmith::Run(data, device.multiProcessorCount, nullptr);
  warpsmith::Check(cudaEventRecord(end), "event");
  warpsmith::Check(cudaDeviceSynchronize(), "running the kernels");
  float milliseconds = 0;
  warpsmith::Check(cudaEventElapsedTime(&milliseconds, start, end), "event");
  std::printf("%s: %.4f ms a run, caches warm, over %d runs; %.1f MB in, %.1f MB out\n", device.name,
              milliseconds / kRuns, kRuns, inputs * 1e-6, outputs * 1e-6);
  return 0;
}
