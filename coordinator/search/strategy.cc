#include "coordinator/search/strategy.h"

#include <fmt/format.h>

#include "coordinator/search/best_of_n.h"
#include "coordinator/search/branching.h"
#include "coordinator/search/evolve.h"
#include "coordinator/search/sequential.h"

namespace warpsmith::search {

absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(const std::string& name) {
  if (name == "branching") return std::unique_ptr<Strategy>(std::make_unique<Branching>());
  if (name == "sequential") return std::unique_ptr<Strategy>(std::make_unique<Sequential>());
  if (name == "best_of_n") return std::unique_ptr<Strategy>(std::make_unique<BestOfN>());
  if (name == "evolve") return std::unique_ptr<Strategy>(std::make_unique<Evolve>());
  return InvalidArgument(
      fmt::format("there is no strategy \"{}\"; there are {}", name, fmt::join(StrategyNames(), ", ")));
}

}  // namespace warpsmith::search
