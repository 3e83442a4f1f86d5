#include "gpu_worker/profile/cupti_paths.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "common/file.h"
#include "gpu_worker/library/shared_library.h"

namespace warpsmith::profile {
namespace {

namespace fs = std::filesystem;

// The range profiler's present interface came with CUDA 12.6, whose library is libcupti.so.12.
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

void Append(std::vector<std::string>* all, std::vector<std::string> more) {
  for (std::string& path : more) {
    if (std::find(all->begin(), all->end(), path) == all->end()) all->push_back(std::move(path));
  }
}

std::vector<std::string> In(const fs::path& place) {
  std::vector<std::string> found;
  for (const char* name : kNames) {
    std::error_code error;
    if (!fs::is_regular_file(place / name, error)) continue;
    const fs::path real = fs::canonical(place / name, error);
    if (!error) Append(&found, {real.string()});
  }
  return found;
}

}  // namespace

std::vector<std::string> CuptiIn(const fs::path& folder) {
  std::vector<fs::path> places = {folder / "extras" / "CUPTI" / "lib64", folder / "lib64", folder / "lib",
                                  folder / "lib" / "x86_64-linux-gnu"};
  for (const fs::path& target : EntriesOf(folder / "targets")) places.push_back(target / "lib");
  places.push_back(folder / "nvidia" / "cu13" / "lib");
  places.push_back(folder / "nvidia" / "cuda_cupti" / "lib");
  std::vector<std::string> found;
  for (const fs::path& place : places) Append(&found, In(place));
  return found;
}

std::vector<std::string> FindCupti() {
  std::vector<std::string> found;
  if (const char* named = std::getenv("WARPSMITH_CUDA_PATH"); named != nullptr && *named != '\0') {
    return std::string_view(named) == "none" ? found : CuptiIn(named);
  }
  for (const char* folder : {"/usr/local/cuda", "/opt/cuda", "/usr", "/usr/lib/cuda"}) Append(&found, CuptiIn(folder));
  // Beside the libraries that the library steps use, in the toolkit's folder or in the wheel next to theirs.
  for (const std::string& folder : library::FindLibraryFolders()) {
    const fs::path lib = folder;
    Append(&found, In(lib));
    Append(&found, In(lib.parent_path().parent_path() / "cuda_cupti" / "lib"));
  }
  return found;
}

}  // namespace warpsmith::profile
