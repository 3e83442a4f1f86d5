// Kernels for the simulation: texts whose meaning the world knows. Threading: one thread.
#ifndef WARPSMITH_TESTS_SIMULATION_KERNELS_H_
#define WARPSMITH_TESTS_SIMULATION_KERNELS_H_

#include <string>

#include "tests/simulation/world.h"

namespace warpsmith::simulation {

// A kernel's text, its truth drawn and entered in world.kernels. Some are one of before but for layout.
std::string DrawKernel(World& world, const std::string& name);

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_KERNELS_H_
