#include "gpu_worker/library/shared_library.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace warpsmith::library {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "warpsmith-library-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = fs::canonical(name);
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  fs::path File(const std::string& name) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << "not a library";
    return path_ / name;
  }

 private:
  fs::path path_;
};

SharedLibraryRequest Missing() {
  SharedLibraryRequest request;
  request.title = "cuBLAS";
  request.names = {"libwarpsmith-nothing.so.13", "libwarpsmith-nothing.so.12"};
  request.remedy = "install it";
  return request;
}

}  // namespace

TEST_CASE("a missing library names what was tried and the remedy", "[unit]") {
  const absl::Status status = LoadSharedLibrary(Missing(), {"/nowhere"}).status();
  CHECK(status.code() == absl::StatusCode::kNotFound);
  const std::string message = Message(status);
  CHECK(message.find("no cuBLAS: libwarpsmith-nothing.so.13 or libwarpsmith-nothing.so.12 cannot be loaded from 1 "
                     "folders (/nowhere)") == 0);
  CHECK(message.find("install it") != std::string::npos);
}

TEST_CASE("a file that is no library tells the loader's words", "[unit]") {
  Folder folder;
  const fs::path file = folder.File("libwarpsmith-nothing.so.12");
  const std::string message = Message(LoadSharedLibrary(Missing(), {folder.path().string()}).status());
  CHECK(message.find(file.string()) != std::string::npos);
}

TEST_CASE("a library of the loader's own places loads by its name", "[unit]") {
  SharedLibraryRequest request;
  request.title = "the C library";
  request.names = {"libc.so.6"};
  CHECK(LoadSharedLibrary(request, {}).ok());
}

TEST_CASE("wheels' folders", "[unit]") {
  Folder folder;
  const fs::path cublas = folder.File("lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13");
  const fs::path cudnn = folder.File("lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9");
  folder.File("lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2");
  folder.File("lib/elsewhere/site-packages/nvidia/cublas/lib/libcublas.so.12");
  CHECK(WheelFolders(folder.path().string()) ==
        std::vector<std::string>{cublas.parent_path().string(), cudnn.parent_path().string()});
}

TEST_CASE("WARPSMITH_CUDA_PATH comes first, and none means none", "[unit]") {
  Folder folder;
  const fs::path library = folder.File("targets/x86_64-linux/lib/libcublas.so.13");
  const char* before = getenv("WARPSMITH_CUDA_PATH");
  const std::string kept = before == nullptr ? "" : before;
  setenv("WARPSMITH_CUDA_PATH", folder.path().c_str(), 1);
  const std::vector<std::string> folders = FindLibraryFolders();
  setenv("WARPSMITH_CUDA_PATH", "none", 1);
  const std::vector<std::string> none = FindLibraryFolders();
  if (before == nullptr) {
    unsetenv("WARPSMITH_CUDA_PATH");
  } else {
    setenv("WARPSMITH_CUDA_PATH", kept.c_str(), 1);
  }
  REQUIRE_FALSE(folders.empty());
  CHECK(folders.front() == library.parent_path().string());
  CHECK(none.empty());
}

}  // namespace warpsmith::library
