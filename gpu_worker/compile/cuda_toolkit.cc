#include "gpu_worker/compile/cuda_toolkit.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/file.h"

namespace warpsmith::compile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "libnvrtc.so";
constexpr std::string_view kBuiltins = "libnvrtc-builtins.so";

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// The library in `folder` whose name is `name` or `name`.N: of soname 13, 12 or 11, the highest.
fs::path LibraryIn(const fs::path& folder, std::string_view name) {
  for (const char* version : {".13", ".12", ".11", ".11.2", ""}) {
    fs::path path = folder / (std::string(name) + version);
    if (IsFile(path)) return path;
  }
  fs::path highest;
  for (const fs::path& path : EntriesOf(folder)) {
    std::string file = path.filename().string();
    if (file.compare(0, name.size(), name) == 0 && IsFile(path)) highest = path;
  }
  return highest;
}

std::vector<std::string> IncludeFolders(const fs::path& include) {
  std::vector<std::string> folders;
  std::error_code error;
  if (!IsFile(include / "cuda_fp16.h")) return folders;
  folders.push_back(fs::canonical(include, error).string());
  // CUDA 13 keeps libcu++ (cuda/std) in a folder of its own.
  if (fs::is_directory(include / "cccl", error)) folders.push_back(fs::canonical(include / "cccl", error).string());
  return folders;
}

std::optional<CudaToolkit> From(const fs::path& library_folder, const std::vector<fs::path>& includes) {
  CudaToolkit toolkit;
  std::error_code error;
  fs::path library = LibraryIn(library_folder, kLibrary);
  if (library.empty()) return std::nullopt;
  for (const fs::path& include : includes) {
    for (std::string& folder : IncludeFolders(include)) toolkit.include_folders.push_back(std::move(folder));
  }
  if (toolkit.include_folders.empty()) return std::nullopt;
  toolkit.nvrtc = fs::canonical(library, error);
  fs::path builtins = LibraryIn(library_folder, kBuiltins);
  if (builtins.empty()) builtins = LibraryIn(toolkit.nvrtc.parent_path(), kBuiltins);
  if (!builtins.empty()) toolkit.builtins = fs::canonical(builtins, error);
  return toolkit;
}

// site-packages/nvidia/{cuda_nvrtc,cuda_runtime} (CUDA 12) or site-packages/nvidia/cu13.
std::optional<CudaToolkit> InWheels(const fs::path& site_packages) {
  fs::path nvidia = site_packages / "nvidia";
  if (auto found = From(nvidia / "cu13" / "lib", {nvidia / "cu13" / "include"})) return found;
  return From(nvidia / "cuda_nvrtc" / "lib", {nvidia / "cuda_runtime" / "include"});
}

// Folders that hold python3.N folders: of the environments in use, then the system's.
std::vector<fs::path> PythonLibraryRoots() {
  std::vector<fs::path> roots;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* folder = std::getenv(variable); folder != nullptr && *folder == '/') {
      roots.push_back(fs::path(folder) / "lib");
    }
  }
  const char* named = std::getenv("WARPSMITH_PYTHON");
  if (named != nullptr && *named == '/') roots.push_back(fs::path(named).parent_path().parent_path() / "lib");
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "";
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    const fs::path folder = path.substr(at, end - at);
    at = end + 1;
    if (folder.is_absolute() && IsFile(folder / "python3")) roots.push_back(folder.parent_path() / "lib");
  }
  roots.insert(roots.end(), {"/usr/local/lib", "/usr/lib", "/opt/conda/lib", "/opt/venv/lib"});
  return roots;
}

}  // namespace

std::optional<CudaToolkit> ToolkitIn(const fs::path& folder) {
  std::vector<fs::path> libraries = {folder / "lib64", folder / "lib", folder / "lib" / "x86_64-linux-gnu"};
  std::vector<fs::path> includes = {folder / "include"};
  for (const fs::path& target : EntriesOf(folder / "targets")) libraries.push_back(target / "lib");
  for (const fs::path& library : libraries) {
    if (auto found = From(library, includes)) return found;
  }
  return InWheels(folder);
}

std::optional<CudaToolkit> FindCudaToolkit() {
  if (const char* named = std::getenv("WARPSMITH_CUDA_PATH"); named != nullptr && *named != '\0') {
    if (std::string_view(named) == "none") return std::nullopt;
    return ToolkitIn(named);
  }
  for (const char* folder : {"/usr/local/cuda", "/opt/cuda", "/usr", "/usr/lib/cuda"}) {
    if (auto found = ToolkitIn(folder)) return found;
  }
  for (const fs::path& root : PythonLibraryRoots()) {
    for (const fs::path& folder : EntriesOf(root)) {
      if (folder.filename().string().compare(0, 6, "python") != 0) continue;
      for (const char* packages : {"dist-packages", "site-packages"}) {
        if (auto found = InWheels(folder / packages)) return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace warpsmith::compile
