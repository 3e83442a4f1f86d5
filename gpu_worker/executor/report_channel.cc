#include "gpu_worker/executor/report_channel.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace warpsmith::executor {
namespace {

constexpr int kLowestReportDescriptor = 40;
constexpr size_t kLastMessageBytes = 4096;

bool ReadAll(char* data, size_t bytes) {
  while (bytes > 0) {
    ssize_t got = read(STDIN_FILENO, data, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

// A protocol buffer's variable-length integer of at most two bytes.
size_t PutLength(char* to, size_t value) {
  if (value < 128) {
    to[0] = static_cast<char>(value);
    return 1;
  }
  to[0] = static_cast<char>((value & 127) | 128);
  to[1] = static_cast<char>(value >> 7);
  return 2;
}

}  // namespace

std::string ReportChannel::ReadFrame() {
  uint32_t bytes = 0;
  if (!ReadAll(reinterpret_cast<char*>(&bytes), sizeof bytes) || bytes > kMaxRequestBytes) return {};
  std::string message(bytes, '\0');
  if (!ReadAll(message.data(), message.size())) return {};
  return message;
}

bool ReportChannel::Open() {
  descriptor_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kLowestReportDescriptor);
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  return descriptor_ >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0;
}

bool ReportChannel::SendWarm() { return Write(&kWarmByte, 1); }

bool ReportChannel::SetNonce(std::string_view nonce) {
  if (nonce.size() != kNonceBytes) return false;
  std::copy(nonce.begin(), nonce.end(), head_.nonce);
  return true;
}

bool ReportChannel::Write(const char* data, size_t bytes) {
  while (bytes > 0) {
    ssize_t written = write(descriptor_, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    bytes -= static_cast<size_t>(written);
  }
  return true;
}

bool ReportChannel::Send(std::string_view message) {
  head_.bytes = static_cast<uint32_t>(message.size());
  bool sent = Write(reinterpret_cast<const char*>(&head_), sizeof head_) && Write(message.data(), message.size());
  ++head_.sequence;
  return sent;
}

void ReportChannel::SendLast(v1::Outcome outcome, const char* message, const char* where, const char* printed) {
  char text[kLastMessageBytes];
  int length = std::snprintf(text, sizeof text, "%.160s: %.1000s%s%.2048s", where, message,
                             printed[0] != '\0' ? "\nprinted: " : "", printed);
  size_t bytes = std::min(static_cast<size_t>(std::max(length, 0)), sizeof text - 1);
  // wire::Report by hand: outcome is field 1, message field 2.
  char report[kLastMessageBytes + 16];
  size_t at = 0;
  report[at++] = 0x08;
  at += PutLength(report + at, static_cast<size_t>(outcome));
  report[at++] = 0x12;
  at += PutLength(report + at, bytes);
  std::copy(text, text + bytes, report + at);
  Send({report, at + bytes});
  _exit(0);
}

ReportChannel& Channel() {
  static ReportChannel channel;
  return channel;
}

}  // namespace warpsmith::executor
