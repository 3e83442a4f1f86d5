#include "gpu_worker/device/emulated/module_image.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace warpsmith::device {
namespace {

constexpr uint64_t kMaxSharedBytes = 64u << 20;
constexpr uint64_t kMaxSharedAlignment = 4096;

class Editor {
 public:
  explicit Editor(std::string& bytes) : bytes_(bytes) {}

  template <typename T>
  std::optional<T> Read(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  // Only at offsets that Read has taken.
  template <typename T>
  void Write(uint64_t offset, const T& value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
  }

 private:
  std::string& bytes_;
};

struct Layout {
  std::vector<Elf64_Phdr> loads;
  std::optional<Elf64_Phdr> dynamic;

  std::optional<uint64_t> FileOffset(uint64_t address) const {
    for (const Elf64_Phdr& load : loads) {
      if (address >= load.p_vaddr && address - load.p_vaddr < load.p_filesz) {
        return load.p_offset + (address - load.p_vaddr);
      }
    }
    return std::nullopt;
  }
};

absl::Status Damaged(std::string_view what) {
  return InvalidArgument(fmt::format("the compiled module is damaged: {}", what));
}

// Finds the segments and removes the thread-local one.
absl::StatusOr<Layout> ReadSegments(Editor& editor, ModuleImage& image) {
  std::optional<Elf64_Ehdr> header = editor.Read<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_type != ET_DYN || header->e_machine != EM_X86_64 || header->e_phentsize != sizeof(Elf64_Phdr)) {
    return InvalidArgument("the compiled module is not a shared object for x86-64");
  }
  Layout layout;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    uint64_t at = header->e_phoff + uint64_t{i} * sizeof(Elf64_Phdr);
    std::optional<Elf64_Phdr> segment = editor.Read<Elf64_Phdr>(at);
    if (header->e_phoff > (uint64_t{1} << 32) || !segment) return Damaged("program headers");
    if (segment->p_type == PT_LOAD) layout.loads.push_back(*segment);
    if (segment->p_type == PT_DYNAMIC) layout.dynamic = *segment;
    if (segment->p_type != PT_TLS) continue;
    if (segment->p_memsz > kMaxSharedBytes || segment->p_align > kMaxSharedAlignment) {
      return ResourceExhausted(fmt::format("the kernels' static shared variables take {} bytes", segment->p_memsz));
    }
    image.static_shared_bytes = segment->p_memsz;
    image.shared_alignment = std::max<uint64_t>(segment->p_align, 1);
    segment->p_type = PT_NULL;
    editor.Write(at, *segment);
  }
  if (!layout.dynamic) return Damaged("no dynamic section");
  return layout;
}

struct Tables {
  uint64_t relocations = 0;
  uint64_t relocation_bytes = 0;
  uint64_t symbols = 0;
};

absl::StatusOr<Tables> ReadDynamic(const Editor& editor, const Layout& layout) {
  Tables tables;
  for (uint64_t i = 0; i < layout.dynamic->p_filesz / sizeof(Elf64_Dyn); ++i) {
    std::optional<Elf64_Dyn> entry = editor.Read<Elf64_Dyn>(layout.dynamic->p_offset + i * sizeof(Elf64_Dyn));
    if (!entry) return Damaged("dynamic section");
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_RELA) tables.relocations = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) tables.relocation_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_SYMTAB) tables.symbols = entry->d_un.d_ptr;
  }
  return tables;
}

absl::Status TakeSlot(const Editor& editor, const Layout& layout, const Tables& tables, const Elf64_Rela& relocation,
                      ModuleImage& image) {
  SharedVariableSlot slot;
  slot.address = relocation.r_offset;
  slot.offset = static_cast<uint64_t>(relocation.r_addend);
  if (uint64_t index = ELF64_R_SYM(relocation.r_info); index != 0) {
    std::optional<uint64_t> at = layout.FileOffset(tables.symbols + index * sizeof(Elf64_Sym));
    std::optional<Elf64_Sym> symbol = at ? editor.Read<Elf64_Sym>(*at) : std::nullopt;
    if (!symbol) return Damaged("symbol table");
    slot.dynamic = symbol->st_shndx == SHN_UNDEF;
    if (!slot.dynamic) slot.offset += symbol->st_value;
  }
  if (!slot.dynamic && slot.offset > image.static_shared_bytes) return Damaged("a shared variable's place");
  image.slots.push_back(slot);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModuleImage> PrepareModule(std::string file) {
  ModuleImage image;
  Editor editor(file);
  WARPSMITH_ASSIGN_OR_RETURN(Layout layout, ReadSegments(editor, image));
  WARPSMITH_ASSIGN_OR_RETURN(Tables tables, ReadDynamic(editor, layout));
  for (uint64_t i = 0; i < tables.relocation_bytes / sizeof(Elf64_Rela); ++i) {
    std::optional<uint64_t> at = layout.FileOffset(tables.relocations + i * sizeof(Elf64_Rela));
    std::optional<Elf64_Rela> relocation = at ? editor.Read<Elf64_Rela>(*at) : std::nullopt;
    if (!relocation) return Damaged("relocations");
    switch (ELF64_R_TYPE(relocation->r_info)) {
      case R_X86_64_TPOFF64:
        WARPSMITH_RETURN_IF_ERROR(TakeSlot(editor, layout, tables, *relocation, image));
        relocation->r_info = ELF64_R_INFO(0, R_X86_64_NONE);
        editor.Write(*at, *relocation);
        break;
      case R_X86_64_DTPMOD64:
      case R_X86_64_DTPOFF64:
      case R_X86_64_TLSDESC:
        return InvalidArgument("the compiled module's thread-local variables are not of the initial-exec model");
      default:
        break;
    }
  }
  image.bytes = std::move(file);
  return image;
}

}  // namespace warpsmith::device
