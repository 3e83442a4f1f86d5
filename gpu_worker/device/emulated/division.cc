#include "gpu_worker/device/emulated/division.h"

#include <cstdint>
#include <cstring>

namespace warpsmith::device {
namespace {

// Encoded register numbers, to places in the saved context.
constexpr int kRegisters[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

struct Division {
  int bytes = 0;  // of the operand
  uint64_t divisor = 0;
  const uint8_t* next = nullptr;
};

template <typename T>
T ReadAt(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

uint64_t LoadOperand(const void* address, int bytes) {
  uint64_t value = 0;
  std::memcpy(&value, address, static_cast<size_t>(bytes));
  return value;
}

class Decoder {
 public:
  explicit Decoder(const ucontext_t& context)
      : context_(context), at_(reinterpret_cast<const uint8_t*>(context.uc_mcontext.gregs[REG_RIP])) {}

  bool Decode(Division& division) {
    bool narrow = false, thread_segment = false;
    for (;; ++at_) {
      if (*at_ == 0x66) {
        narrow = true;
      } else if (*at_ == 0x64) {
        thread_segment = true;
      } else {
        break;
      }
    }
    if ((*at_ & 0xf0) == 0x40) rex_ = *at_++;
    uint8_t opcode = *at_++;
    if (opcode != 0xf6 && opcode != 0xf7) return false;
    uint8_t mod_rm = *at_++;
    int operation = mod_rm >> 3 & 7;
    if (operation != 6 && operation != 7) return false;
    division.bytes = opcode == 0xf6 ? 1 : (rex_ & 8) != 0 ? 8 : narrow ? 2 : 4;
    int mode = mod_rm >> 6, low = mod_rm & 7;
    if (mode == 3) {
      bool high_byte = division.bytes == 1 && rex_ == 0 && low >= 4;
      uint64_t value = Register(high_byte ? low - 4 : low | (rex_ & 1) << 3);
      if (high_byte) value >>= 8;
      division.divisor = LoadOperand(&value, division.bytes);
    } else {
      uint64_t address = Address(mode, low);
      if (thread_segment) address += reinterpret_cast<uint64_t>(__builtin_thread_pointer());
      division.divisor = LoadOperand(reinterpret_cast<const void*>(address), division.bytes);
    }
    division.next = at_;
    return true;
  }

 private:
  uint64_t Register(int number) const { return static_cast<uint64_t>(context_.uc_mcontext.gregs[kRegisters[number]]); }

  uint64_t Address(int mode, int low) {
    uint64_t address = 0;
    bool next_relative = false;
    if (low == 4) {
      uint8_t sib = *at_++;
      int index = (sib >> 3 & 7) | (rex_ & 2) << 2, base = sib & 7;
      if (index != 4) address += Register(index) << (sib >> 6);
      if (base == 5 && mode == 0) {
        address += static_cast<uint64_t>(int64_t{ReadAt<int32_t>(at_)});
        at_ += 4;
        return address;
      }
      address += Register(base | (rex_ & 1) << 3);
    } else if (low == 5 && mode == 0) {
      next_relative = true;
      mode = 2;
    } else {
      address = Register(low | (rex_ & 1) << 3);
    }
    if (mode == 1) {
      address += static_cast<uint64_t>(int64_t{ReadAt<int8_t>(at_)});
      at_ += 1;
    } else if (mode == 2) {
      address += static_cast<uint64_t>(int64_t{ReadAt<int32_t>(at_)});
      at_ += 4;
    }
    if (next_relative) address += reinterpret_cast<uint64_t>(at_);
    return address;
  }

  const ucontext_t& context_;
  const uint8_t* at_;
  int rex_ = 0;
};

// Writes the low `bytes` bytes of a register as an instruction would.
void Set(greg_t& target, uint64_t value, int bytes) {
  uint64_t old = static_cast<uint64_t>(target);
  uint64_t mask = bytes == 2 ? 0xffffu : 0xffffffffu;
  if (bytes == 8) {
    old = value;
  } else if (bytes == 4) {
    old = value & mask;  // clears the upper half
  } else {
    old = (old & ~mask) | (value & mask);
  }
  target = static_cast<greg_t>(old);
}

}  // namespace

bool EmulateDivision(ucontext_t* context) {
  Division division;
  if (!Decoder(*context).Decode(division)) return false;
  greg_t* registers = context->uc_mcontext.gregs;
  uint64_t quotient = uint64_t{1} << (8 * division.bytes - 1), remainder = 0;
  if (division.divisor == 0) {
    remainder = static_cast<uint64_t>(registers[REG_RAX]);
    quotient = division.bytes == 8 && remainder >> 32 == 0 ? 0xffffffffu : ~uint64_t{0};
  }
  if (division.bytes == 1) {
    Set(registers[REG_RAX], (remainder & 0xff) << 8 | (quotient & 0xff), 2);
  } else {
    Set(registers[REG_RAX], quotient, division.bytes);
    Set(registers[REG_RDX], remainder, division.bytes);
  }
  registers[REG_RIP] = reinterpret_cast<greg_t>(division.next);
  return true;
}

}  // namespace warpsmith::device
