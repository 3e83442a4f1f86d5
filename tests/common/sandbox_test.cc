#include "common/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <functional>

#include "common/file.h"

namespace warpsmith {
namespace {

struct Result {
  int exit_code = -1;
  int signal = 0;
};

// Runs `body` in a forked process inside the sandbox; the exit code is what it returns.
Result Inside(const SandboxOptions& options, const std::function<int()>& body) {
  pid_t pid = fork();
  if (pid == 0) {
    if (!EnterSandbox(options).ok()) _exit(99);
    _exit(body());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? Result{-1, WTERMSIG(status)} : Result{WEXITSTATUS(status), 0};
}

TEST_CASE("the compute sandbox lets memory and open descriptors be used", "[unit]") {
  auto result = Inside({}, [] {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<int*>(page) = 5;
    return *static_cast<int*>(page);
  });
  CHECK(result.exit_code == 5);
}

TEST_CASE("the compute sandbox opens only what it was given", "[unit]") {
  auto folder = TemporaryDirectory::Create("sandbox-test");
  REQUIRE(WriteFileAtomically(folder->path() / "a", "1").ok());
  std::string allowed = folder->path() / "a";
  SandboxOptions options;
  options.read_paths = {allowed};
  CHECK(Inside(options, [&] { return open(allowed.c_str(), O_RDONLY) >= 0 ? 0 : errno; }).exit_code == 0);
  CHECK(Inside(options, [&] { return open(allowed.c_str(), O_RDWR) >= 0 ? 0 : errno; }).exit_code == EACCES);
  CHECK(Inside(options, [] { return open("/etc/passwd", O_RDONLY) >= 0 ? 0 : errno; }).exit_code == EACCES);
  CHECK(Inside(options, [] { return open("/proc/self/environ", O_RDONLY) >= 0 ? 0 : errno; }).exit_code == EACCES);
  CHECK(Inside(options, [] { return open("/tmp/x", O_CREAT | O_RDWR, 0600) >= 0 ? 0 : errno; }).exit_code == EACCES);
}

TEST_CASE("the compute sandbox ends whoever asks for more", "[unit]") {
  CHECK(Inside({}, [] { return fork() == 0 ? 0 : 1; }).signal == SIGSYS);
  CHECK(Inside({}, [] { return socket(AF_INET, SOCK_STREAM, 0); }).signal == SIGSYS);
  CHECK(Inside({}, [] { return execl("/bin/true", "true", nullptr); }).signal == SIGSYS);
  CHECK(Inside({}, [] { return kill(getppid(), SIGTERM); }).signal == SIGSYS);
}

TEST_CASE("limits hold", "[unit]") {
  SandboxOptions options;
  options.address_space_bytes = 256u << 20;
  CHECK(Inside(options, [] {
          return mmap(nullptr, 1u << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 1 : 0;
        }).exit_code == 1);
  options = {};
  options.cpu_seconds = 1;
  auto result = Inside(options, [] {
    std::atomic<int> spin{0};
    while (spin.fetch_add(1) != -7) {
    }
    return 0;
  });
  CHECK(result.signal != 0);
}

TEST_CASE("the compiler's sandbox runs programs it was given and nothing else", "[unit]") {
  SandboxOptions options;
  options.syscalls = SyscallPolicy::kCompiler;
  options.allow_execute = true;
  options.read_paths = {"/bin", "/usr/bin", "/lib", "/lib64", "/usr/lib"};
  CHECK(Inside(options, [] { return execl("/bin/true", "true", nullptr); }).exit_code == 0);
  CHECK(Inside(options, [] { return open("/etc/passwd", O_RDONLY) >= 0 ? 0 : errno; }).exit_code == EACCES);
  CHECK(Inside(options, [] { return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0; }).exit_code == EPERM);
}

}  // namespace
}  // namespace warpsmith
