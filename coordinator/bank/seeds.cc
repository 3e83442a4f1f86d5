#include "coordinator/bank/seeds.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace warpsmith::bank {
namespace {

constexpr double kMissingTensor = 8;
constexpr double kOtherType = 2;
constexpr double kRankStep = 1;
constexpr size_t kNearFactor = 3;

double LogSize(int64_t size) { return std::log2(static_cast<double>(std::max<int64_t>(size, 1))); }

double LogElements(const v1::TensorSpec& tensor) {
  double sum = 0;
  for (int64_t size : tensor.shape()) sum += LogSize(size);
  return sum;
}

double TensorDistance(const v1::TensorSpec& a, const v1::TensorSpec& b) {
  double distance = std::abs(LogElements(a) - LogElements(b));
  distance += kRankStep * std::abs(a.shape_size() - b.shape_size());
  if (a.dtype() != b.dtype()) distance += kOtherType;
  // The inner dimensions decide how memory is walked.
  const int common = std::min(a.shape_size(), b.shape_size());
  double dimensions = 0;
  for (int i = 1; i <= common; ++i) {
    dimensions += std::abs(LogSize(a.shape(a.shape_size() - i)) - LogSize(b.shape(b.shape_size() - i)));
  }
  return common == 0 ? distance : distance + dimensions / common;
}

std::vector<const v1::TensorSpec*> OfRole(const v1::ProblemSignature& signature, bool (*belongs)(v1::TensorRole)) {
  std::vector<const v1::TensorSpec*> tensors;
  for (const v1::TensorSpec& tensor : signature.tensors()) {
    if (belongs(tensor.role())) tensors.push_back(&tensor);
  }
  return tensors;
}

double RoleDistance(const v1::ProblemSignature& a, const v1::ProblemSignature& b, bool (*belongs)(v1::TensorRole)) {
  const std::vector<const v1::TensorSpec*> ours = OfRole(a, belongs), theirs = OfRole(b, belongs);
  const size_t common = std::min(ours.size(), theirs.size()), most = std::max(ours.size(), theirs.size());
  if (most == 0) return 0;
  double distance = kMissingTensor * static_cast<double>(most - common);
  for (size_t i = 0; i < common; ++i) distance += TensorDistance(*ours[i], *theirs[i]);
  return distance / static_cast<double>(most);
}

bool IsInput(v1::TensorRole role) { return role == v1::TENSOR_ROLE_INPUT; }
bool IsOutput(v1::TensorRole role) { return role == v1::TENSOR_ROLE_OUTPUT; }
bool IsState(v1::TensorRole role) { return !IsInput(role) && !IsOutput(role); }

}  // namespace

double Distance(const v1::ProblemSignature& a, const v1::ProblemSignature& b) {
  return (RoleDistance(a, b, IsInput) + RoleDistance(a, b, IsOutput) + RoleDistance(a, b, IsState)) / 3;
}

std::vector<Neighbour> ChooseSeeds(const std::string& problem_id, const v1::ProblemSignature& signature,
                                   std::vector<Neighbour> neighbours, size_t limit) {
  const auto by_speed = [](const Neighbour& a, const Neighbour& b) {
    const auto sortable = [](double ratio) { return std::isfinite(ratio) ? -ratio : 1e300; };
    return std::tuple(!a.trusted, sortable(a.log_ratio), a.kernel_id) <
           std::tuple(!b.trusted, sortable(b.log_ratio), b.kernel_id);
  };
  std::sort(neighbours.begin(), neighbours.end(), by_speed);
  std::set<std::string> problems = {problem_id};
  std::erase_if(neighbours, [&](const Neighbour& n) { return !problems.insert(n.problem_id).second; });
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < neighbours.size(); ++i) order.emplace_back(Distance(signature, neighbours[i].signature), i);
  std::sort(order.begin(), order.end());
  if (const size_t near = kNearFactor * limit; order.size() > near) order.resize(near);
  std::vector<Neighbour> chosen;
  for (const auto& [distance, i] : order) chosen.push_back(std::move(neighbours[i]));
  std::sort(chosen.begin(), chosen.end(), by_speed);
  if (chosen.size() > limit) chosen.resize(limit);
  return chosen;
}

}  // namespace warpsmith::bank
