#include "common/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

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

SandboxOptions DeviceOptions() {
  SandboxOptions options;
  options.syscalls = SyscallPolicy::kDevice;
  options.open_files = 1024;
  return options;
}

// As an executor does it: what a driver starts while calls are still free is filtered with the rest.
Result InsideDevice(const std::function<int()>& body) {
  pid_t pid = fork();
  if (pid == 0) {
    std::atomic<int> stage{0};
    int answer = -1;
    std::thread early([&] {
      while (stage.load() == 0) std::this_thread::yield();
      answer = body();
    });
    if (!RestrictCalls(DeviceOptions()).ok()) _exit(99);
    int here = body();
    stage = 1;
    early.join();
    _exit(here == answer ? here : 98);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? Result{-1, WTERMSIG(status)} : Result{WEXITSTATUS(status), 0};
}

TEST_CASE("the device policy leaves what a driver needs, in every thread", "[unit]") {
  CHECK(InsideDevice([] {
          int value = 0;
          std::thread([&] { value = 7; }).join();
          return value;
        }).exit_code == 7);
  CHECK(InsideDevice([] {
          void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          *static_cast<int*>(page) = 5;
          return *static_cast<int*>(page);
        }).exit_code == 5);
  CHECK(InsideDevice([] {
          int null = open("/dev/null", O_RDWR);
          int bytes = 0;
          return null >= 0 && ioctl(null, FIONREAD, &bytes) < 0 ? errno : 0;
        }).exit_code == ENOTTY);
  CHECK(InsideDevice([] { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : errno; }).exit_code == 0);
  CHECK(InsideDevice([] { return epoll_create1(0) >= 0 && eventfd(0, 0) >= 0 ? 0 : errno; }).exit_code == 0);
}

TEST_CASE("the device policy refuses processes, programs, the network, tracing and new files", "[unit]") {
  CHECK(InsideDevice([] { return fork() == -1 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] { return execl("/bin/true", "true", nullptr) == -1 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] { return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] { return socket(AF_INET6, SOCK_DGRAM, 0) < 0 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] { return ptrace(PTRACE_ATTACH, getppid(), 0, 0) < 0 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] {
          char byte = 0;
          iovec here{&byte, 1}, there{&byte, 1};
          return process_vm_readv(getppid(), &here, 1, &there, 1, 0) < 0 ? errno : 0;
        }).exit_code == EPERM);
  CHECK(InsideDevice([] { return kill(getppid(), 0) < 0 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] { return open("/tmp/x", O_CREAT | O_RDWR, 0600) < 0 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] { return open("/dev/null", O_WRONLY) < 0 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] { return open("/dev/null", O_RDWR | O_TRUNC) < 0 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] { return unlink("/tmp/no-such-file") < 0 ? errno : 0; }).exit_code == EPERM);
  CHECK(InsideDevice([] { return prctl(PR_SET_DUMPABLE, 1) < 0 ? errno : 0; }).exit_code == EPERM);
}

TEST_CASE("files are restricted before threads start, devices open for writing", "[unit]") {
  pid_t pid = fork();
  if (pid == 0) {
    SandboxOptions options = DeviceOptions();
    options.read_paths = {"/proc"};
    options.device_paths = {"/dev/null"};
    if (!RestrictFiles(options).ok()) _exit(99);
    int wrong = 0;
    std::thread([&] {
      if (open("/dev/null", O_RDWR) < 0) wrong = 1;
      if (open("/proc/self/status", O_RDONLY) < 0) wrong = 2;
      if (open("/etc/passwd", O_RDONLY) >= 0) wrong = 3;
      if (open("/dev/zero", O_RDWR) >= 0) wrong = 4;
    }).join();
    _exit(wrong);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace warpsmith
