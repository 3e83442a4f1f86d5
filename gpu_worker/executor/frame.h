// Frames between a worker and an executor child.
// Threading: pure.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_FRAME_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_FRAME_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace warpsmith::executor {

inline constexpr size_t kNonceBytes = 32;
inline constexpr uint32_t kMaxReportBytes = 1u << 20;
inline constexpr uint32_t kMaxRequestBytes = 256u << 20;
inline constexpr int kMaxRuns = 100000;
// What a child writes before anything else, once it waits for its spec.
inline constexpr char kWarmByte = 'w';

// Before every message of the child's.
struct ReportHead {
  char nonce[kNonceBytes];
  uint32_t sequence;
  uint32_t bytes;
};
inline constexpr size_t kReportHeadBytes = sizeof(ReportHead);

// Towards the child: a length before the message.
inline std::string EncodeFrame(std::string_view message) {
  auto bytes = static_cast<uint32_t>(message.size());
  std::string frame(sizeof bytes, '\0');
  std::memcpy(frame.data(), &bytes, sizeof bytes);
  return frame.append(message);
}

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_FRAME_H_
