// The library steps of a launch plan on a GPU: matrix products through cuBLAS, convolutions and attention through
// cuDNN, both loaded at run time. Everything that takes time or memory happens in Prepare: handles, the choice of
// algorithms, workspaces and one run into memory of this class, so that Enqueue does stream work only and can be
// captured into a graph. Only where CUDA's headers were found at build time. Threading: one thread, with the GPU's
// context current. Units: bytes. Errors: NotFound where a library is missing or too old, which is the machine's fault,
// with its name; FailedPrecondition where it lacks what the step asks for; ResourceExhausted where memory ran out;
// Internal for what a library reports else. Messages begin with the function and name the field.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_LIBRARY_RUNNER_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_LIBRARY_RUNNER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "gpu_worker/device/cuda/driver_api.h"
#include "gpu_worker/library/library_call.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::library {

// Where a view lies in the slot at hand, and its buffer's type: "float32", "float16" or "bfloat16".
struct Operand {
  CUdeviceptr address = 0;
  std::string dtype;
};
using ResolveView = std::function<absl::StatusOr<Operand>(const v1::BufferView&)>;

// A step whose algorithm is chosen, for any addresses. Made by the library at hand, shared by the slots.
class PreparedCall {
 public:
  virtual ~PreparedCall() = default;
  // `addresses` by operand name.
  virtual absl::Status Enqueue(const std::map<std::string, CUdeviceptr>& addresses, CUstream stream) = 0;
  virtual std::string Describe() const = 0;
};

class CublasRunner;
class CudnnRunner;

class LibraryRunner {
 public:
  // `folders` are tried before those of FindLibraryFolders and the loader's own. Loads nothing yet: a plan without
  // convolutions does not pay for cuDNN.
  static absl::StatusOr<std::unique_ptr<LibraryRunner>> Create(const cuda::DriverApi& api,
                                                               std::vector<std::string> folders);
  ~LibraryRunner();

  // Makes a step ready for one slot; its index is the number of successful calls before. A step like an earlier one
  // (the same but for addresses) costs nothing. Not while a stream is being captured.
  absl::Status Prepare(const v1::LibraryStep& step, const ResolveView& resolve);
  int prepared() const { return static_cast<int>(steps_.size()); }

  // The step's work at the end of `stream`, no synchronisation, no allocation.
  absl::Status Enqueue(int prepared_index, CUstream stream);

  // The chosen algorithm, e.g. "gemm 512x512x64 float32 by CUBLAS_COMPUTE_32F".
  std::string Describe(int prepared_index) const;

 private:
  struct Step {
    std::shared_ptr<PreparedCall> call;
    std::map<std::string, CUdeviceptr> addresses;
  };
  LibraryRunner(const cuda::DriverApi& api, std::vector<std::string> folders);
  absl::StatusOr<std::shared_ptr<PreparedCall>> Choose(const v1::LibraryStep& step, const OperandTypes& types,
                                                       const std::map<std::string, CUdeviceptr>& addresses);

  const cuda::DriverApi& api_;
  std::vector<std::string> folders_;
  // Before the calls, which use them until they are gone.
  std::unique_ptr<CublasRunner> cublas_;
  std::unique_ptr<CudnnRunner> cudnn_;
  std::map<std::string, std::shared_ptr<PreparedCall>> calls_;  // by step without addresses
  std::vector<Step> steps_;
};

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_LIBRARY_RUNNER_H_
