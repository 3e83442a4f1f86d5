// warpsmith-compiler: compiles one candidate in a sandbox. A framed Job comes on standard input, a framed Report goes
// to standard output; nothing else is written there, whatever a library prints.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "gpu_worker/compile/child_job.h"

namespace {

constexpr size_t kMaxJobBytes = 16u << 20;
constexpr int kNice = 10;

bool ReadAll(int descriptor, std::string& data) {
  char chunk[65536];
  for (;;) {
    ssize_t n = read(descriptor, chunk, sizeof chunk);
    if (n == 0) return true;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 || data.size() + static_cast<size_t>(n) > kMaxJobBytes) return false;
    data.append(chunk, static_cast<size_t>(n));
  }
}

bool WriteAll(int descriptor, const std::string& data) {
  for (size_t done = 0; done < data.size();) {
    ssize_t n = write(descriptor, data.data() + done, data.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

int main() {
  // Compiling waits behind whatever is being timed on this machine: a parent that is scheduled late reads its clock
  // late.
  setpriority(PRIO_PROCESS, 0, kNice);
  int result = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (result < 0 || null < 0 || dup2(null, STDOUT_FILENO) < 0) return 2;
  std::string input;
  if (!ReadAll(STDIN_FILENO, input)) return 2;
  auto message = warpsmith::compile::Unframe(input);
  warpsmith::compile::wire::Job job;
  if (!message.ok() || !job.ParseFromString(*message)) return 2;
  std::string output;
  warpsmith::compile::RunJob(job).SerializeToString(&output);
  // Not through exit: destructors of a compiler that a hostile source has been through are not to be trusted.
  _exit(WriteAll(result, warpsmith::compile::Frame(output)) ? 0 : 3);
}
