// What of the executor for GPUs needs the driver's header but no driver.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "gpu_worker/device/cuda/child_environment.h"
#include "gpu_worker/executor/cuda/outcome.h"
#include "gpu_worker/executor/cuda/residency.h"
#include "gpu_worker/executor/cuda/sandbox.h"
#include "gpu_worker/executor/cuda/tensor_map.h"
#include "gpu_worker/library/shared_library.h"

namespace warpsmith::executor {
namespace {

TEST_CASE("CUDA's errors are outcomes", "[unit]") {
  for (int code : {700, 714, 716, 717, 718}) {
    CHECK(OutcomeOf(static_cast<CUresult>(code)) == v1::OUTCOME_ILLEGAL_ACCESS);
  }
  for (int code : {1, 98, 700 + 1, 710, 715, 719, 720, 900, 12345}) {
    CHECK(OutcomeOf(static_cast<CUresult>(code)) == v1::OUTCOME_LAUNCH_ERROR);
  }
  CHECK(OutcomeOf(static_cast<CUresult>(2)) == v1::OUTCOME_OUT_OF_MEMORY);
  for (int code : {46, 100, 201, 209, 214, 802, 999}) {
    CHECK(OutcomeOf(static_cast<CUresult>(code)) == v1::OUTCOME_INFRA_ERROR);
  }
  CHECK(FaultOf(ResourceExhausted("x"), "w").outcome == v1::OUTCOME_OUT_OF_MEMORY);
  CHECK(FaultOf(Unavailable("x"), "w").outcome == v1::OUTCOME_INFRA_ERROR);
  CHECK(FaultOf(InvalidArgument("x"), "w").outcome == v1::OUTCOME_LAUNCH_ERROR);
}

TEST_CASE("a library that is not there is the machine's fault, and named", "[unit]") {
  library::SharedLibraryRequest request;
  request.title = "cuDNN";
  request.names = {"libwarpsmith-nowhere.so.9"};
  request.remedy = "install it";
  const CudaFault fault = FaultOf(library::LoadSharedLibrary(request, {"/nowhere"}).status(), "library steps");
  CHECK(fault.outcome == v1::OUTCOME_INFRA_ERROR);
  CHECK(fault.message.find("no cuDNN: libwarpsmith-nowhere.so.9") == 0);
  CHECK(fault.message.find("install it") != std::string::npos);
  CHECK(FaultOf(FailedPrecondition("cuDNN offers no algorithm"), "w").outcome == v1::OUTCOME_LAUNCH_ERROR);
}

// The driver's calls, without one.
std::vector<CUfunction> loaded;
CUresult load_result = CUDA_SUCCESS;

CUfunction Handle(uintptr_t number) { return reinterpret_cast<CUfunction>(number); }

cuda::DriverApi Driver() {
  cuda::DriverApi api;
  api.cuGetErrorName = [](CUresult, const char** name) {
    *name = "CUDA_ERROR_X";
    return CUDA_SUCCESS;
  };
  api.cuGetErrorString = [](CUresult, const char** text) {
    *text = "x";
    return CUDA_SUCCESS;
  };
#if CUDA_VERSION >= 12040
  api.cuFuncLoad = [](CUfunction function) {
    loaded.push_back(function);
    return load_result;
  };
#endif
  return api;
}

TEST_CASE("each kernel is put on the device, or runs once before anything is captured or timed", "[unit]") {
  cuda::DriverApi api = Driver();
  Residency residency(api);
#if CUDA_VERSION >= 12040
  loaded.clear();
  load_result = CUDA_SUCCESS;
  CHECK_FALSE(residency.Load(Handle(1), "kernel f"));
  CHECK_FALSE(residency.Load(Handle(2), "kernel g"));
  CHECK(loaded == std::vector<CUfunction>{Handle(1), Handle(2)});
  CHECK(residency.complete());
  load_result = CUDA_ERROR_OUT_OF_MEMORY;
  MaybeFault fault = residency.Load(Handle(3), "kernel h");
  REQUIRE(fault);
  CHECK(fault->outcome == v1::OUTCOME_OUT_OF_MEMORY);
  CHECK(fault->where == "kernel h");
  load_result = CUDA_ERROR_NOT_SUPPORTED;
  CHECK_FALSE(residency.Load(Handle(3), "kernel h"));
  CHECK_FALSE(residency.complete());
  api.cuFuncLoad = nullptr;
#endif
  Residency old(api);
  CHECK(old.complete());
  CHECK_FALSE(old.Load(Handle(1), "kernel f"));
  CHECK_FALSE(old.complete());
  old.NoteFirstRun();
  CHECK(old.complete());
  old.NeedFirstRun();  // library steps
  CHECK_FALSE(old.complete());
}

TEST_CASE("children load what they use and no more", "[unit]") {
  CHECK(cuda::ChildEnvironment("GPU-x").at("CUDA_MODULE_LOADING") == "LAZY");
  CHECK(cuda::ChildEnvironment("GPU-x").at("CUDA_VISIBLE_DEVICES") == "GPU-x");
}

v1::TensorMap Map() {
  v1::TensorMap map;
  map.set_dtype("float16");
  map.set_swizzle("128B");
  for (int64_t side : {512, 64, 3}) map.add_shape(side);
  for (int64_t stride : {1024, 65536}) map.add_stride_bytes(stride);
  for (uint32_t side : {64u, 32u, 1u}) map.add_box(side);
  return map;
}

TEST_CASE("a tensor map is read into the driver's terms", "[unit]") {
  absl::StatusOr<TensorMapFields> fields = ReadTensorMap(Map());
  REQUIRE(fields.ok());
  CHECK(fields->type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  CHECK(fields->rank == 3);
  CHECK(fields->sides[0] == 512);
  CHECK(fields->stride_bytes[0] == 1024);
  CHECK(fields->stride_bytes[1] == 65536);
  CHECK(fields->box[1] == 32);
  CHECK(fields->swizzle == CU_TENSOR_MAP_SWIZZLE_128B);
  CHECK(fields->extent_bytes == 2 + 511 * 2 + 63 * 1024 + 2 * 65536);
}

TEST_CASE("a tensor map outside the format's limits is refused", "[unit]") {
  auto refused = [](auto change) {
    v1::TensorMap map = Map();
    change(map);
    return !ReadTensorMap(map).ok();
  };
  CHECK(refused([](v1::TensorMap& map) { map.set_dtype("complex64"); }));
  CHECK(refused([](v1::TensorMap& map) { map.set_swizzle("96B"); }));
  CHECK(refused([](v1::TensorMap& map) { map.set_swizzle("64B"); }));  // the box is wider
  CHECK(refused([](v1::TensorMap& map) { map.set_box(0, 63); }));      // 126 bytes
  CHECK(refused([](v1::TensorMap& map) { map.set_box(1, 257); }));
  CHECK(refused([](v1::TensorMap& map) { map.set_box(1, 0); }));
  CHECK(refused([](v1::TensorMap& map) { map.set_stride_bytes(0, 1032); }));
  CHECK(refused([](v1::TensorMap& map) { map.set_stride_bytes(1, int64_t{1} << 40); }));
  CHECK(refused([](v1::TensorMap& map) { map.set_shape(2, 0); }));
  CHECK(refused([](v1::TensorMap& map) { map.add_box(1); }));
  CHECK(refused([](v1::TensorMap& map) { map.clear_stride_bytes(); }));
  v1::TensorMap deep = Map();
  for (int i = 0; i < 3; ++i) {
    deep.add_shape(1);
    deep.add_stride_bytes(16);
    deep.add_box(1);
  }
  CHECK(!ReadTensorMap(deep).ok());
}

TEST_CASE("the driver's sandbox names devices and libraries that are here, and no home", "[unit]") {
  SandboxOptions options = DriverSandbox({"/usr", "/nowhere"}, "/tmp:/not/there");
  auto has = [](const std::vector<std::string>& paths, const std::string& path) {
    return std::find(paths.begin(), paths.end(), path) != paths.end();
  };
  CHECK(options.syscalls == SyscallPolicy::kDevice);
  CHECK(has(options.device_paths, "/dev/null"));
  CHECK(has(options.read_paths, "/proc"));
  CHECK(has(options.read_paths, "/tmp"));
  CHECK_FALSE(has(options.read_paths, "/nowhere"));
  CHECK_FALSE(has(options.read_paths, "/"));
  CHECK_FALSE(has(options.read_paths, "/home"));
  CHECK_FALSE(has(options.read_paths, "/etc"));
}

}  // namespace
}  // namespace warpsmith::executor
