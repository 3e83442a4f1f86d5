// A problem, as intake would describe it, for prompts and recipes.
// Threading: pure.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_SUPPORT_SAMPLE_PROBLEM_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_SUPPORT_SAMPLE_PROBLEM_H_

#include <algorithm>
#include <string>
#include <vector>

#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::gateway {

inline void AddTensor(v1::ProblemSignature& signature, const std::string& name, v1::TensorRole role,
                      const std::vector<int64_t>& shape, const std::string& dtype = "float32") {
  v1::TensorSpec* tensor = signature.add_tensors();
  tensor->set_name(name);
  tensor->set_dtype(dtype);
  tensor->set_role(role);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) tensor->add_strides(stride);
  std::reverse(tensor->mutable_strides()->begin(), tensor->mutable_strides()->end());
  for (int64_t extent : shape) tensor->add_shape(extent);
}

// Layer normalisation of (8, 256) over the last dimension, weight and bias under "ln.".
inline v1::ProblemContext LayerNormContext() {
  v1::ProblemContext context;
  v1::Problem& problem = *context.mutable_problem();
  problem.set_name("layer_norm");
  problem.set_source("class Model(nn.Module):\n  def __init__(self):\n    self.ln = nn.LayerNorm(256, eps=1e-3)\n");
  v1::ProblemSignature& signature = *problem.mutable_signature();
  signature.set_operator_family("layer_norm");
  signature.add_operators("LayerNorm");
  AddTensor(signature, "x", v1::TENSOR_ROLE_INPUT, {8, 256});
  AddTensor(signature, "ln.weight", v1::TENSOR_ROLE_PARAMETER, {256});
  AddTensor(signature, "ln.bias", v1::TENSOR_ROLE_PARAMETER, {256});
  AddTensor(signature, "output", v1::TENSOR_ROLE_OUTPUT, {8, 256});
  signature.set_tolerance(1e-2);
  context.mutable_device()->set_name("emulated");
  context.mutable_device()->set_emulated(true);
  return context;
}

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_SUPPORT_SAMPLE_PROBLEM_H_
