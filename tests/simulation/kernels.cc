#include "tests/simulation/kernels.h"

#include "common/hash.h"

namespace warpsmith::simulation {
namespace {

KernelTruth DrawTruth(World& world) {
  KernelTruth truth;
  truth.median_ms = world.random.Scale(0.1, 2);
  const double luck = world.random.Unit();
  if (luck < 0.62) return truth;
  if (luck < 0.72) {
    truth.outcome = v1::OUTCOME_WRONG_OUTPUT;
  } else if (luck < 0.82) {
    truth.outcome = v1::OUTCOME_COMPILE_ERROR;
  } else if (luck < 0.88) {
    truth.outcome = v1::OUTCOME_TIMEOUT;
  } else if (luck < 0.92) {
    truth.outcome = v1::OUTCOME_PLAN_ERROR;
  } else if (luck < 0.95) {
    truth.outcome = v1::OUTCOME_SUSPICIOUS;
  } else if (world.rates.worker_fail > 0 && luck < 0.975) {
    truth.hangs = true;
  } else if (world.rates.worker_fail > 0) {
    truth.kills = true;
  }
  if (truth.outcome != v1::OUTCOME_OK) truth.median_ms = 0;
  return truth;
}

}  // namespace

std::string DrawKernel(World& world, const std::string& name) {
  static constexpr char kForm[] =
      "/* warpsmith-plan {{\"version\": 1, \"number\": {0}}} */\n__global__ void k(float* {1}) {{ {1}[0] = {0}; }}\n";
  const bool again = !world.kernels.empty() && world.random.Chance(0.1);
  const auto number =
      again ? world.random.Int(1, static_cast<int>(world.kernels.size())) : static_cast<int>(world.kernels.size()) + 1;
  const std::string text = fmt::format(kForm, number, again && world.random.Chance(0.5) ? "other_name" : "x");
  // The same number is the same program, whatever its names.
  auto known = world.kernels.end();
  for (const char* parameter : {"x", "other_name"}) {
    if (known == world.kernels.end()) known = world.kernels.find(Sha256Hex(fmt::format(kForm, number, parameter)));
  }
  const KernelTruth truth = known != world.kernels.end() ? known->second : DrawTruth(world);
  world.kernels.emplace(Sha256Hex(text), truth);
  world.Note("{} is kernel {}: outcome {}, {:.3f} ms{}{}", name, number, static_cast<int>(truth.outcome),
             truth.median_ms, truth.hangs ? ", hangs" : "", truth.kills ? ", kills" : "");
  return text;
}

}  // namespace warpsmith::simulation
