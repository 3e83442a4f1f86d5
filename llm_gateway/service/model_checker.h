// One tiny call a model: whether it answers, how soon, and what limits its server tells of. The calls go past circuits
// and fallbacks, which are not what is asked about, and are charged to the day's budget like any other.
// Threading: safe from any thread; blocks. Errors: InvalidArgument for a model that is not configured; what is wrong
// with a model stands in its check.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_MODEL_CHECKER_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_MODEL_CHECKER_H_

#include <functional>

#include "common/status.h"
#include "llm_gateway/service/gateway.h"
#include "llm_gateway/service/model_pool.h"

namespace warpsmith::gateway {

class ModelChecker {
 public:
  ModelChecker(const Gateway& gateway, ModelPool& models, TaskRunner& pool)
      : gateway_(gateway), models_(models), pool_(pool) {}

  // `emit` is called from several threads, one after the other; false: nobody listens any more.
  absl::Status Check(const v1::CheckModelsRequest& request, const std::function<bool(const v1::ModelCheck&)>& emit,
                     Cancellation& cancellation);

 private:
  v1::ModelCheck CheckOne(const v1::ModelDescription& description, Cancellation& cancellation);

  const Gateway& gateway_;
  ModelPool& models_;
  TaskRunner& pool_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_MODEL_CHECKER_H_
