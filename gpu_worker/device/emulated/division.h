// Puts an integer division right that the processor has refused, with the values measured on an H200: a division by
// zero gives all ones as the quotient (32 of them where a 64-bit dividend fits 32 bits) and the dividend as the
// remainder; the one quotient that does not fit (the least number by -1) gives the least number and remainder 0.
// Threading: for signal handlers. Source of the encoding: the x86-64 instruction set, DIV and IDIV.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_DIVISION_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_DIVISION_H_

#include <ucontext.h>

namespace warpsmith::device {

// False where the instruction at fault is not a division.
bool EmulateDivision(ucontext_t* context);

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_DIVISION_H_
