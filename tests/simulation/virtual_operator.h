// Operators in virtual time: they submit, inject, pause, resume, try again and cancel, and ask again with the same
// request_id where they do not hear of an answer: the request or the reply was lost, or the coordinator was not there.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_SIMULATION_VIRTUAL_OPERATOR_H_
#define WARPSMITH_TESTS_SIMULATION_VIRTUAL_OPERATOR_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/simulation/scenario.h"

namespace warpsmith::simulation {

class VirtualOperator {
 public:
  VirtualOperator(World& world, const Scenario& scenario,
                  std::function<std::shared_ptr<VirtualCoordinator>()> coordinator);

  // Everything was asked for and answered.
  bool satisfied() const { return waiting_ == 0; }
  // What was answered well, by what was asked: each has its line in the audit.
  const std::map<std::string, std::string>& answers() const { return answers_; }
  // The ids of searches by request.
  const std::map<std::string, std::string>& searches() const { return searches_; }

 private:
  using Call = std::function<absl::StatusOr<std::string>(VirtualCoordinator&)>;
  // Asks until there is an answer, and hands it over where it is an id.
  void Ask(const std::string& what, Micros delay, Call call, std::function<void(const std::string&)> answered);
  void Submitted(const v1::SubmitSearchRequest& request, const std::string& id);
  void BatchSubmitted(const std::string& id);

  World& world_;
  const std::function<std::shared_ptr<VirtualCoordinator>()> coordinator_;
  int waiting_ = 0;
  std::map<std::string, std::string> searches_;
  std::map<std::string, std::string> answers_;  // by what was asked: the same question has the same answer
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_VIRTUAL_OPERATOR_H_
