#include "gpu_worker/plan/tune.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpsmith::plan {
namespace {

// All assignments that differ from the first values in exactly `changes` names from `at` on, while there is room.
void Extend(const std::vector<TuneParameter>& tune, size_t at, size_t changes, size_t max, TuneAssignment* current,
            std::vector<TuneAssignment>* result) {
  if (result->size() >= max || changes > tune.size() - at) return;
  if (at == tune.size()) {
    result->push_back(*current);
    return;
  }
  const TuneParameter& parameter = tune[at];
  if (changes > 0) {
    for (size_t i = 1; i < parameter.values.size(); ++i) {
      (*current)[parameter.name] = parameter.values[i];
      Extend(tune, at + 1, changes - 1, max, current, result);
    }
  }
  (*current)[parameter.name] = parameter.values[0];
  Extend(tune, at + 1, changes, max, current, result);
}

}  // namespace

std::vector<TuneAssignment> TuneVariants(const Plan& plan, size_t max) {
  max = std::max<size_t>(max, 1);
  std::vector<TuneAssignment> result;
  TuneAssignment current;
  for (size_t changes = 0; changes <= plan.tune.size() && result.size() < max; ++changes) {
    Extend(plan.tune, 0, changes, max, &current, &result);
  }
  return result;
}

std::vector<std::string> CompilerOptions(const Plan& plan, const TuneAssignment& tune) {
  std::vector<std::string> options = plan.options;
  for (const auto& [name, value] : tune) options.push_back(fmt::format("-D{}={}", name, value));
  return options;
}

}  // namespace warpsmith::plan
