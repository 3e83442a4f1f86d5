#include "gpu_worker/compile/elf_reader.h"

#include <elf.h>
#include <fmt/format.h>

namespace warpsmith::compile {
namespace {

constexpr size_t kMaxSections = 65536;
constexpr size_t kMaxSymbols = 1 << 20;

absl::Status Broken(std::string_view what) {
  return InvalidArgument(fmt::format("the compiled module is not a sound ELF file: {}", what));
}

// The zero-terminated string at `offset` of a string table.
std::optional<std::string_view> StringAt(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  size_t end = table.find('\0', offset);
  if (end == std::string_view::npos) return std::nullopt;
  return table.substr(offset, end - offset);
}

std::optional<std::string_view> Slice(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.substr(offset, size);
}

}  // namespace

absl::StatusOr<ElfFile> ElfFile::Parse(std::string_view bytes) {
  auto header = ReadAt<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return Broken("no ELF header");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return Broken("not 64-bit little-endian");
  }
  ElfFile file;
  file.bytes_ = bytes;
  uint64_t count = header->e_shnum;
  if (header->e_shoff != 0) {
    if (header->e_shentsize != sizeof(Elf64_Shdr)) return Broken("section headers of an unknown size");
    auto first = ReadAt<Elf64_Shdr>(bytes, header->e_shoff);
    if (!first) return Broken("section headers lie outside");
    if (count == 0) count = first->sh_size;
    if (count > kMaxSections) return Broken("too many sections");
    uint64_t names = header->e_shstrndx == SHN_XINDEX ? first->sh_link : header->e_shstrndx;
    std::vector<Elf64_Shdr> raw(count);
    for (uint64_t i = 0; i < count; ++i) {
      auto section = ReadAt<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
      if (!section) return Broken("section headers lie outside");
      raw[i] = *section;
    }
    if (names >= count) return Broken("no section names");
    auto table = Slice(bytes, raw[names].sh_offset, raw[names].sh_size);
    if (!table) return Broken("section names lie outside");
    for (const Elf64_Shdr& section : raw) {
      auto name = StringAt(*table, section.sh_name);
      if (!name) return Broken("a section's name lies outside");
      ElfSection out{*name,           section.sh_type, section.sh_flags, section.sh_addr,
                     section.sh_size, section.sh_link, section.sh_info,  {}};
      if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL) {
        auto data = Slice(bytes, section.sh_offset, section.sh_size);
        if (!data) return Broken("a section lies outside");
        out.data = *data;
      }
      file.sections_.push_back(out);
    }
  }
  if (header->e_phoff != 0) {
    if (header->e_phentsize != sizeof(Elf64_Phdr)) return Broken("program headers of an unknown size");
    for (uint64_t i = 0; i < header->e_phnum; ++i) {
      auto segment = ReadAt<Elf64_Phdr>(bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
      if (!segment) return Broken("program headers lie outside");
      file.segments_.push_back({segment->p_type, segment->p_flags, segment->p_offset, segment->p_vaddr,
                                segment->p_filesz, segment->p_memsz});
    }
  }
  return file;
}

const ElfSection* ElfFile::Find(std::string_view name) const {
  for (const ElfSection& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

absl::StatusOr<std::vector<ElfSymbol>> ElfFile::Symbols(uint32_t section_type) const {
  std::vector<ElfSymbol> symbols;
  for (const ElfSection& section : sections_) {
    if (section.type != section_type) continue;
    if (section.link >= sections_.size()) return Broken("a symbol table without names");
    std::string_view names = sections_[section.link].data;
    size_t count = section.data.size() / sizeof(Elf64_Sym);
    if (count > kMaxSymbols) return Broken("too many symbols");
    for (size_t i = 0; i < count; ++i) {
      auto raw = ReadAt<Elf64_Sym>(section.data, i * sizeof(Elf64_Sym));
      auto name = StringAt(names, raw->st_name);
      if (!name) return Broken("a symbol's name lies outside");
      symbols.push_back({*name, raw->st_value, raw->st_size, raw->st_shndx,
                         static_cast<uint8_t>(ELF64_ST_TYPE(raw->st_info)),
                         static_cast<uint8_t>(ELF64_ST_BIND(raw->st_info)),
                         static_cast<uint8_t>(ELF64_ST_VISIBILITY(raw->st_other))});
    }
    break;
  }
  return symbols;
}

std::optional<std::string_view> ElfFile::ReadOnlyBytes(uint64_t address, uint64_t size) const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_LOAD || (segment.flags & PF_W) != 0 || address < segment.address) continue;
    uint64_t within = address - segment.address;
    if (within > segment.file_size || size > segment.file_size - within) continue;
    auto whole = Slice(bytes_, segment.offset, segment.file_size);
    if (whole) return whole->substr(within, size);
  }
  return std::nullopt;
}

}  // namespace warpsmith::compile
