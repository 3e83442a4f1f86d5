#include "gpu_worker/executor/emulated/buffer_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace warpsmith::executor {
namespace {

constexpr size_t kPage = 4096;

}  // namespace

absl::StatusOr<BufferMap::File> BufferMap::MapFile(const std::string& path) {
  if (auto known = files_.find(path); known != files_.end()) return known->second;
  int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return Internal(ErrnoMessage(fmt::format("cannot open the buffer file {}", path), errno));
  struct stat information {};
  File file;
  void* mapped = MAP_FAILED;
  if (fstat(descriptor, &information) == 0 && information.st_size > 0) {
    file.bytes = information.st_size;
    size_t whole = (static_cast<size_t>(file.bytes) + kPage - 1) / kPage * kPage;
    void* room = mmap(nullptr, whole + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED) {
      mapped = mmap(static_cast<char*>(room) + kPage, static_cast<size_t>(file.bytes), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED, descriptor, 0);
    }
  }
  int error = errno;
  close(descriptor);
  if (mapped == MAP_FAILED) return Internal(ErrnoMessage(fmt::format("cannot map the buffer file {}", path), error));
  file.start = static_cast<char*>(mapped);
  files_[path] = file;
  return file;
}

absl::Status BufferMap::Map(const wire::Spec& spec) {
  for (const wire::Slot& slot : spec.slots()) {
    std::vector<char*>& payloads = payloads_.emplace_back();
    for (const wire::Buffer& buffer : slot.buffers()) {
      WARPSMITH_ASSIGN_OR_RETURN(File file, MapFile(buffer.path()));
      if (buffer.payload_bytes() < 0 || buffer.payload_offset() > file.bytes ||
          file.bytes - buffer.payload_offset() < buffer.payload_bytes()) {
        return Internal(fmt::format("the buffer file {} has {} bytes, too few for {} at {}", buffer.path(), file.bytes,
                                    buffer.payload_bytes(), buffer.payload_offset()));
      }
      payloads.push_back(file.start + buffer.payload_offset());
    }
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::executor
