// Reads a 64-bit little-endian ELF file that may be hostile: every offset, size and index is checked, nothing is
// mapped or loaded, and the number of sections and symbols is bounded.
// Threading: an ElfFile is immutable; it refers to the bytes it was made from. Units: bytes.
// Errors: InvalidArgument where the file contradicts itself.
// Source: the System V ABI, generic part, chapters 4 and 5.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_ELF_READER_H_
#define WARPSMITH_GPU_WORKER_COMPILE_ELF_READER_H_

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::compile {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  std::string_view data;  // empty for sections without bytes in the file

  bool Allocated() const { return flags & 2; }
  bool Writable() const { return flags & 1; }
  bool ThreadLocal() const { return flags & 0x400; }
};

struct ElfSymbol {
  std::string_view name;
  uint64_t value = 0;
  uint64_t size = 0;
  uint32_t section = 0;  // 0: undefined
  uint8_t type = 0;      // 1 object, 2 function, 6 thread-local, 10 indirect function
  uint8_t bind = 0;      // 0 local, 1 global, 2 weak
  uint8_t visibility = 0;

  bool Object() const { return type == 1; }
};

struct ElfSegment {
  uint32_t type = 0;   // 1: load
  uint32_t flags = 0;  // 1 execute, 2 write, 4 read
  uint64_t offset = 0;
  uint64_t address = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
};

class ElfFile {
 public:
  static absl::StatusOr<ElfFile> Parse(std::string_view bytes);

  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  const ElfSection* Find(std::string_view name) const;
  // Of the first section of the given type: 2 for .symtab, 11 for .dynsym. Empty where there is none.
  absl::StatusOr<std::vector<ElfSymbol>> Symbols(uint32_t section_type) const;
  // `size` bytes at a virtual address, from a segment that is not writable.
  std::optional<std::string_view> ReadOnlyBytes(uint64_t address, uint64_t size) const;

 private:
  std::string_view bytes_;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
};

// A little-endian value at `offset`, if it lies within the bytes.
template <typename T>
std::optional<T> ReadAt(std::string_view bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_ELF_READER_H_
