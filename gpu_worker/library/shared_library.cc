#include "gpu_worker/library/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/file.h"

namespace warpsmith::library {
namespace {

namespace fs = std::filesystem;

bool HoldsLibrary(const fs::path& folder) {
  for (const fs::path& file : EntriesOf(folder)) {
    const std::string name = file.filename().string();
    if (name.rfind("libcublas.so", 0) == 0 || name.rfind("libcudnn.so", 0) == 0) return true;
  }
  return false;
}

void Append(const fs::path& folder, std::vector<std::string>* folders) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || !HoldsLibrary(real)) return;
  if (std::find(folders->begin(), folders->end(), real.string()) == folders->end()) folders->push_back(real.string());
}

std::vector<std::string> Split(const char* list) {
  std::vector<std::string> parts;
  std::string_view rest = list == nullptr ? "" : list;
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    if (end != 0) parts.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return parts;
}

void AppendToolkit(const fs::path& folder, std::vector<std::string>* folders) {
  Append(folder, folders);
  for (const char* below : {"lib64", "lib", "lib/x86_64-linux-gnu"}) Append(folder / below, folders);
  for (const fs::path& target : EntriesOf(folder / "targets")) Append(target / "lib", folders);
}

// ".13" of "libcublas.so.13".
std::string_view VersionOf(std::string_view name) {
  const size_t at = name.find(".so");
  return at == std::string_view::npos ? std::string_view() : name.substr(at + 3);
}

void* Open(const std::string& path, int flags, std::string* error) {
  void* handle = dlopen(path.c_str(), RTLD_LAZY | flags);
  if (handle == nullptr) *error = dlerror();
  return handle;
}

}  // namespace

std::vector<std::string> WheelFolders(const std::string& root) {
  std::vector<std::string> folders;
  for (const fs::path& python : EntriesOf(fs::path(root) / "lib")) {
    if (python.filename().string().rfind("python3", 0) != 0) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const fs::path& part : EntriesOf(python / packages / "nvidia")) Append(part / "lib", &folders);
    }
  }
  return folders;
}

std::vector<std::string> FindLibraryFolders() {
  std::vector<std::string> folders;
  if (const char* named = std::getenv("WARPSMITH_CUDA_PATH"); named != nullptr && *named != '\0') {
    if (std::string_view(named) == "none") return folders;
    AppendToolkit(named, &folders);
  }
  for (const std::string& folder : Split(std::getenv("LD_LIBRARY_PATH"))) Append(folder, &folders);
  for (const char* toolkit : {"/usr/local/cuda", "/opt/cuda", "/usr"}) AppendToolkit(toolkit, &folders);
  std::vector<std::string> roots;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* root = std::getenv(name); root != nullptr && *root != '\0') roots.emplace_back(root);
  }
  std::error_code error;
  for (const std::string& programs : Split(std::getenv("PATH"))) {
    if (fs::exists(fs::path(programs) / "python3", error)) roots.push_back(fs::path(programs).parent_path().string());
  }
  for (const char* root : {"/usr/local", "/usr", "/opt/venv", "/opt/conda"}) roots.emplace_back(root);
  for (const std::string& root : roots) {
    for (const std::string& folder : WheelFolders(root)) Append(folder, &folders);
  }
  return folders;
}

absl::StatusOr<void*> LoadSharedLibrary(const SharedLibraryRequest& request, const std::vector<std::string>& folders) {
  // A file that is there and does not load says more than names that are nowhere.
  std::string file_error, name_error;
  for (const std::string& name : request.names) {
    for (const std::string& folder : folders) {
      std::error_code missing;
      const fs::path path = fs::path(folder) / name;
      if (!fs::exists(path, missing)) continue;
      std::string error;
      for (const std::string& pattern : request.preloaded) {
        // What it needs lies beside it; where not, the loader finds it or says so below.
        const fs::path beside = fs::path(folder) / fmt::format(fmt::runtime(pattern), VersionOf(name));
        if (fs::exists(beside, missing)) Open(beside.string(), RTLD_GLOBAL, &error);
      }
      if (void* handle = Open(path.string(), RTLD_LOCAL, &error)) return handle;
      if (file_error.empty()) file_error = error;
    }
    std::string error;
    if (void* handle = Open(name, RTLD_LOCAL, &error)) return handle;
    if (name_error.empty()) name_error = error;
  }
  return NotFound(fmt::format("no {}: {} cannot be loaded from {} folders ({}) nor from the loader's own ({}); {}",
                              request.title, fmt::join(request.names, " or "), folders.size(), fmt::join(folders, ", "),
                              file_error.empty() ? name_error : file_error, request.remedy));
}

}  // namespace warpsmith::library
