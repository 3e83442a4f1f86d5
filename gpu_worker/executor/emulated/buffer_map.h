// The oracle's buffer files in the executor's address space: each whole file between unmapped pages.
// Threading: one thread. Units: bytes. Errors name the file.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_EMULATED_BUFFER_MAP_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_EMULATED_BUFFER_MAP_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/status.h"
#include "gpu_worker/executor/executor.pb.h"

namespace warpsmith::executor {

class BufferMap {
 public:
  // A file that several slots name is mapped once.
  absl::Status Map(const wire::Spec& spec);
  char* Payload(int slot, uint32_t buffer) const { return payloads_[static_cast<size_t>(slot)][buffer]; }
  int slots() const { return static_cast<int>(payloads_.size()); }

 private:
  struct File {
    char* start = nullptr;
    int64_t bytes = 0;
  };
  absl::StatusOr<File> MapFile(const std::string& path);

  std::map<std::string, File> files_;
  std::vector<std::vector<char*>> payloads_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_EMULATED_BUFFER_MAP_H_
