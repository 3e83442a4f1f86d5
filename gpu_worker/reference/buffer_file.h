// A file in shared memory that holds one tensor between two guard zones. The oracle makes, fills and judges it; the
// executor maps it and sees the payload only through payload_offset.
// Threading: a value. Units: bytes. Layout: guard | payload | guard, the second guard right behind the payload's last
// byte; payload_offset is a multiple of 64 KiB.
#ifndef WARPSMITH_GPU_WORKER_REFERENCE_BUFFER_FILE_H_
#define WARPSMITH_GPU_WORKER_REFERENCE_BUFFER_FILE_H_

#include <cstdint>
#include <string>

namespace warpsmith::reference {

struct BufferFile {
  std::string path;
  int64_t payload_offset = 0;
  int64_t payload_bytes = 0;
};

}  // namespace warpsmith::reference

#endif  // WARPSMITH_GPU_WORKER_REFERENCE_BUFFER_FILE_H_
