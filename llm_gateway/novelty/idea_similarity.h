// How alike optimisation ideas are, so that a model which proposes an earlier one in other words can be asked again.
// Threading: safe from any thread. Units: 1 the same, about 0 unrelated. Errors: of whatever an implementation asks
// elsewhere; a caller goes on without the judgement then.
#ifndef WARPSMITH_LLM_GATEWAY_NOVELTY_IDEA_SIMILARITY_H_
#define WARPSMITH_LLM_GATEWAY_NOVELTY_IDEA_SIMILARITY_H_

#include <string>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

class Cancellation;  // llm_gateway/http/cancellation.h
class CallBudget;    // llm_gateway/limits/call_budget.h

// For whom two ideas are compared: who may end it, who pays where it costs something, and what was asked for it.
struct Asking {
  explicit Asking(Cancellation& ended_by, CallBudget* paid_from = nullptr)
      : cancellation(ended_by), budget(paid_from) {}
  Cancellation& cancellation;
  CallBudget* budget;                // null: no limit
  std::vector<v1::ModelCall> calls;  // every one that was sent, with what it took
};

class IdeaSimilarity {
 public:
  virtual ~IdeaSimilarity() = default;
  // A row for each of `left`, a value for each of `right`. All at once, since some implementations ask over a network.
  virtual absl::StatusOr<std::vector<std::vector<double>>> Between(const std::vector<const v1::Idea*>& left,
                                                                   const std::vector<const v1::Idea*>& right,
                                                                   Asking& asking) const = 0;
  // From here on two ideas are too close.
  virtual double threshold() const = 0;
  virtual std::string name() const = 0;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_NOVELTY_IDEA_SIMILARITY_H_
