// What simulated workers and models answer: made up, the same for the same question, and of the size of real answers.
// Threading: pure functions. Units: milliseconds.
#ifndef WARPSMITH_BENCHMARKS_COORDINATOR_ANSWERS_H_
#define WARPSMITH_BENCHMARKS_COORDINATOR_ANSWERS_H_

#include <string>

#include "warpsmith/v1/gateway.pb.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::bench {

v1::DeviceDescription SimulatedDevice();
v1::ProblemSignature SimulatedSignature();

// About three in four candidates are correct; times improve over the rounds of a search.
v1::TaskResult AnswerTo(const v1::Assignment& assignment);

// A kernel of about 3 KB that no other call gets.
std::string KernelSource(const std::string& name);

v1::Idea SimulatedIdea(const std::string& name, int index);

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_COORDINATOR_ANSWERS_H_
