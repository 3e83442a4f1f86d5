#include "gpu_worker/device/cuda/gpu_lock.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "common/file.h"

namespace warpsmith::cuda {
namespace {

constexpr std::chrono::milliseconds kShort(60);

struct Folder {
  TemporaryDirectory parent = *TemporaryDirectory::Create("lock-test");
  std::filesystem::path path = parent.path() / "locks";
};

TEST_CASE("a GPU has one holder; another one is told which process it is", "[unit]") {
  Folder folder;
  auto first = GpuLock::Acquire("GPU-1", kShort, folder.path);
  REQUIRE(first.ok());
  const auto second = GpuLock::Acquire("GPU-1", kShort, folder.path);
  CHECK(second.status().code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(Message(second.status()).find("process " + std::to_string(getpid())) != std::string::npos);
  CHECK(GpuLock::Acquire("GPU-2", kShort, folder.path).ok());
  { const GpuLock gone = std::move(*first); }
  CHECK(GpuLock::Acquire("GPU-1", kShort, folder.path).ok());
}

TEST_CASE("the lock goes with the process that held it, however that ended", "[unit]") {
  Folder folder;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = GpuLock::Acquire("GPU-1", kShort, folder.path);
    const char answer = lock.ok() ? 'y' : 'n';
    if (write(ready[1], &answer, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char answer = 0;
  REQUIRE(read(ready[0], &answer, 1) == 1);
  REQUIRE(answer == 'y');
  const auto refused = GpuLock::Acquire("GPU-1", kShort, folder.path);
  CHECK(Message(refused.status()).find("process " + std::to_string(child)) != std::string::npos);
  kill(child, SIGKILL);
  CHECK(GpuLock::Acquire("GPU-1", std::chrono::seconds(5), folder.path).ok());
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("a folder that others could have prepared is refused", "[unit]") {
  Folder folder;
  const std::filesystem::path elsewhere = folder.parent.path() / "elsewhere";
  mkdir(elsewhere.c_str(), 0700);
  std::filesystem::create_directory_symlink(elsewhere, folder.path);
  CHECK(GpuLock::Acquire("GPU-1", kShort, folder.path).status().code() == absl::StatusCode::kFailedPrecondition);
  std::filesystem::remove(folder.path);
  mkdir(folder.path.c_str(), 0700);
  chmod(folder.path.c_str(), 0777);
  CHECK(GpuLock::Acquire("GPU-1", kShort, folder.path).status().code() == absl::StatusCode::kFailedPrecondition);
  chmod(folder.path.c_str(), 0700);
  std::filesystem::create_symlink("/etc/passwd", folder.path / "GPU-1.lock");
  CHECK(GpuLock::Acquire("GPU-1", kShort, folder.path).status().code() == absl::StatusCode::kFailedPrecondition);
  for (const char* bad : {"", "../x", "GPU 1", "GPU-1/"}) {
    CHECK(GpuLock::Acquire(bad, kShort, folder.path).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace warpsmith::cuda
