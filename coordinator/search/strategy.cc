#include "coordinator/search/strategy.h"

#include <fmt/format.h>

#include "coordinator/search/branching.h"
#include "coordinator/search/sequential.h"

namespace warpsmith::search {

absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(const std::string& name) {
  if (name == "branching") return std::unique_ptr<Strategy>(std::make_unique<Branching>());
  if (name == "sequential") return std::unique_ptr<Strategy>(std::make_unique<Sequential>());
  return InvalidArgument(fmt::format("there is no strategy \"{}\"; there are branching and sequential", name));
}

}  // namespace warpsmith::search
