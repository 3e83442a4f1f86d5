// Recorded searches made up for tests. Threading: pure.
#ifndef WARPSMITH_TESTS_COORDINATOR_REPLAY_RECORDINGS_H_
#define WARPSMITH_TESTS_COORDINATOR_REPLAY_RECORDINGS_H_

#include <fmt/format.h>

#include <string>

#include "warpsmith/v1/recording.pb.h"

namespace warpsmith::replay {

// Builds a tree: ideas on a parent, kernels of an idea, repairs of a kernel.
class RecordingBuilder {
 public:
  RecordingBuilder() {
    recording_.set_search_id("recorded");
    recording_.set_name("layer_norm");
    Call("propose", 1000, 10);
    Call("implement", 2000, 20);
    Call("repair", 500, 5);
  }

  std::string Idea(const std::string& parent_id, int round) {
    v1::RecordedIdea& idea = *recording_.add_ideas();
    idea.set_id(fmt::format("i{}", recording_.ideas_size()));
    idea.set_parent_id(parent_id);
    idea.set_round(round);
    idea.set_category("memory_access");
    idea.set_title("an idea");
    return idea.id();
  }
  std::string Kernel(const std::string& idea_id, double log_ratio, v1::Outcome outcome = v1::OUTCOME_OK,
                     const std::string& repair_of = "", int attempt = 0) {
    v1::RecordedCandidate& candidate = *recording_.add_candidates();
    candidate.set_id(fmt::format("c{}", recording_.candidates_size()));
    candidate.set_idea_id(idea_id);
    candidate.set_outcome(outcome);
    candidate.set_repair_of(repair_of);
    candidate.set_repair_attempt(attempt);
    candidate.set_log_ratio(outcome == v1::OUTCOME_OK ? log_ratio : 0);
    candidate.set_median_ms(1);
    candidate.set_spread(0.001);
    candidate.set_gpu_seconds(0.25);
    candidate.set_seconds(0.5);
    return candidate.id();
  }
  void Call(const std::string& kind, int64_t tokens, double seconds) {
    v1::RecordedCall& call = *recording_.add_calls();
    call.set_kind(kind);
    call.set_tokens(tokens);
    call.set_usd(static_cast<double>(tokens) * 1e-6);
    call.set_seconds(seconds);
  }
  v1::SearchSettings& settings() { return *recording_.mutable_settings(); }
  v1::Recording& recording() { return recording_; }

 private:
  v1::Recording recording_;
};

// Three rounds in which each generation is faster than its parents by a tenth or so, and ideas for the module itself
// bring little: to go on from the best is what pays.
inline v1::Recording Climbing() {
  RecordingBuilder tree;
  tree.settings().set_rounds(3);
  tree.settings().set_parents(2);
  tree.settings().set_ideas(2);
  tree.settings().set_implementations(2);
  tree.settings().set_repairs(-1);
  // As branching takes them: the best, and the best of another lineage.
  std::string parents[2];
  for (int round = 1; round <= 3; ++round) {
    std::string best[4];
    for (int i = 0; i < 4; ++i) {
      const std::string idea = tree.Idea(parents[i / 2], round);
      for (int k = 0; k < 2; ++k) best[i] = tree.Kernel(idea, 0.4 * round + 0.01 * i + 0.001 * k);
    }
    parents[0] = best[3];
    parents[1] = best[round == 1 ? 2 : 1];
  }
  return tree.recording();
}

}  // namespace warpsmith::replay

#endif  // WARPSMITH_TESTS_COORDINATOR_REPLAY_RECORDINGS_H_
