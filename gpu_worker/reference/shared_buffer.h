// Memory that holds one tensor between two guard zones: a file in shared memory, or an allocation on the GPU. The
// oracle makes, fills and judges it; the executor maps it and sees the payload only through payload_offset. Threading:
// a value. Units: bytes. Layout: guard | payload | guard, the second guard right behind the payload's last byte.
// payload_offset is a multiple of 64 KiB in a file and of 256 bytes on a GPU, where an allocation is whole blocks of 2
// MiB: a handle shares its whole block.
#ifndef WARPSMITH_GPU_WORKER_REFERENCE_SHARED_BUFFER_H_
#define WARPSMITH_GPU_WORKER_REFERENCE_SHARED_BUFFER_H_

#include <cstdint>
#include <string>

namespace warpsmith::reference {

struct SharedBuffer {
  std::string path;        // of the file; empty on a GPU
  std::string ipc_handle;  // the 64 bytes of a CUipcMemHandle; empty for a file
  int64_t allocation_bytes = 0;
  int64_t payload_offset = 0;
  int64_t payload_bytes = 0;
};

}  // namespace warpsmith::reference

#endif  // WARPSMITH_GPU_WORKER_REFERENCE_SHARED_BUFFER_H_
