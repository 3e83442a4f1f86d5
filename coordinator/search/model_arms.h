// The arms that a search may ask: each usable model with each effort and prompt variant that it offers, and how one is
// chosen by a fixed split.
// Threading: pure.
#ifndef WARPSMITH_COORDINATOR_SEARCH_MODEL_ARMS_H_
#define WARPSMITH_COORDINATOR_SEARCH_MODEL_ARMS_H_

#include <map>
#include <string>
#include <vector>

#include "warpsmith/v1/gateway.pb.h"
#include "warpsmith/v1/search.pb.h"

namespace warpsmith::search {

struct ModelArm {
  std::string model;    // its configured name
  std::string effort;   // empty: as configured
  std::string variant;  // empty: the default prompts
  bool catalog = false;
  double usd_a_call = 0;  // at most, with 32,000 tokens of input
  double input_usd = 0;   // a token
  int64_t output_tokens_a_call = 0;

  std::string Name() const { return model + '|' + effort + '|' + variant; }
};

// Of the models that `settings` allows (all, where it names none) and that are usable. A model whose circuit is open is
// left out unless there is no other.
std::vector<ModelArm> ArmsOf(const v1::ListModelsReply& models, const v1::SearchSettings& settings);

// The split's weights for `arms`: an arm's own name before its model's, whose weight its arms share; none given at all:
// the same for all.
std::vector<double> SplitWeights(const std::vector<ModelArm>& arms,
                                 const google::protobuf::Map<std::string, double>& split);

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_MODEL_ARMS_H_
