#include "gpu_worker/compile/nvrtc_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace warpsmith::compile {
namespace {

template <typename Function>
bool Resolve(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

// Reads what a pair of "size" and "data" functions gives.
template <typename Program>
std::string Fetch(Program program, int (*size_of)(Program, size_t*), int (*get)(Program, char*)) {
  size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return {};
  std::string data(size, '\0');
  if (get(program, data.data()) != 0) return {};
  return data;
}

std::string WithoutTrailingZeros(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NvrtcApi>> NvrtcApi::Load(const std::string& library, const std::string& builtins) {
  if (!builtins.empty() && dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return NotFound(fmt::format("cannot load {}: {}", builtins, dlerror()));
  }
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return NotFound(fmt::format("cannot load {}: {}", library, dlerror()));
  std::unique_ptr<NvrtcApi> api(new NvrtcApi());
  int (*version)(int*, int*) = nullptr;
  bool whole =
      Resolve(handle, "nvrtcVersion", version) && Resolve(handle, "nvrtcCreateProgram", api->create_) &&
      Resolve(handle, "nvrtcDestroyProgram", api->destroy_) && Resolve(handle, "nvrtcCompileProgram", api->compile_) &&
      Resolve(handle, "nvrtcAddNameExpression", api->add_name_) &&
      Resolve(handle, "nvrtcGetLoweredName", api->lowered_name_) &&
      Resolve(handle, "nvrtcGetProgramLogSize", api->log_size_) && Resolve(handle, "nvrtcGetProgramLog", api->log_) &&
      Resolve(handle, "nvrtcGetPTXSize", api->ptx_size_) && Resolve(handle, "nvrtcGetPTX", api->ptx_) &&
      Resolve(handle, "nvrtcGetCUBINSize", api->cubin_size_) && Resolve(handle, "nvrtcGetCUBIN", api->cubin_);
  if (!whole) return NotFound(fmt::format("{} is too old: CUDA 11.2 or later is needed", library));
  int major = 0, minor = 0;
  if (version(&major, &minor) != 0) return Internal(fmt::format("{} does not tell its version", library));
  api->version_ = fmt::format("{}.{}", major, minor);
  return api;
}

absl::StatusOr<NvrtcOutput> NvrtcApi::Compile(const std::string& code, const std::vector<std::string>& options,
                                              const std::vector<std::string>& names) {
  Program program = nullptr;
  if (int result = create_(&program, code.c_str(), "candidate.cu", 0, nullptr, nullptr); result != kSuccess) {
    return Internal(fmt::format("NVRTC could not make a program: error {}", result));
  }
  struct Guard {
    int (*destroy)(Program*);
    Program* program;
    ~Guard() { destroy(program); }
  } guard{destroy_, &program};
  for (const std::string& name : names) {
    if (int result = add_name_(program, name.c_str()); result != kSuccess) {
      return Internal(fmt::format("NVRTC did not take the name {}: error {}", name, result));
    }
  }
  std::vector<const char*> arguments;
  arguments.reserve(options.size());
  for (const std::string& option : options) arguments.push_back(option.c_str());
  NvrtcOutput output;
  output.result = compile_(program, static_cast<int>(arguments.size()), arguments.data());
  output.log = WithoutTrailingZeros(Fetch(program, log_size_, log_));
  if (output.result != kSuccess) return output;
  output.ptx = WithoutTrailingZeros(Fetch(program, ptx_size_, ptx_));
  output.cubin = Fetch(program, cubin_size_, cubin_);
  for (const std::string& name : names) {
    const char* lowered = nullptr;
    if (lowered_name_(program, name.c_str(), &lowered) != kSuccess || lowered == nullptr) {
      return Internal(fmt::format("NVRTC has no lowered name for {}", name));
    }
    output.lowered_names.emplace_back(lowered);
  }
  return output;
}

}  // namespace warpsmith::compile
