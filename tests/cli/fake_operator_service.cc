#include "tests/cli/fake_operator_service.h"

#include <chrono>
#include <thread>

namespace warpsmith::cli {
namespace {

constexpr char kSearchId[] = "3f2a91c0d4e5f60718293a4b5c6d7e8f";
constexpr char kCandidateId[] = "c0ffee12a1b2c3d4e5f60718293a4b5c";

bool Knows(const std::string& whole, const std::string& prefix) {
  return prefix.size() >= 6 && whole.rfind(prefix, 0) == 0;
}

grpc::Status Unknown(const std::string& id) {
  return {grpc::StatusCode::NOT_FOUND, "there is no search " + id + "; see warpsmith list"};
}

}  // namespace

v1::Search FakeSearch() {
  v1::Search search;
  search.set_id(kSearchId);
  search.set_name("layer_norm");
  search.set_state(v1::SEARCH_STATE_DONE);
  search.set_finish_reason("rounds");
  search.set_emulated(true);
  search.mutable_settings()->set_rounds(2);
  search.set_submitted_at_us(1'700'000'000'000'000);
  search.set_finished_at_us(1'700'000'072'000'000);
  search.mutable_usage()->set_model_calls(18);
  search.mutable_usage()->set_input_tokens(1'234'567);
  search.mutable_usage()->set_output_tokens(45'678);
  search.mutable_usage()->set_usd(1.5);
  search.mutable_problem()->set_name("layer_norm");
  v1::Baseline& eager = *search.mutable_problem()->add_baselines();
  eager.set_name("eager");
  eager.set_median_ms(1.0);
  eager.set_emulated(true);
  v1::RoundSummary& first = *search.add_rounds();
  first.set_round(1);
  first.set_ideas(4);
  first.set_generated(8);
  first.set_compiled(7);
  first.set_correct(5);
  first.set_faster(5);
  first.set_best_ms(1.25);
  first.set_best_ratio_to_eager(0.8);
  first.set_round_best_ms(1.25);
  first.set_best_idea("One block a row, warp shuffles for the sums");
  first.add_idea_titles("One block a row, warp shuffles for the sums");
  first.add_idea_titles("Load four floats at once");
  v1::RoundSummary& second = *search.add_rounds();
  second = first;
  second.set_round(2);
  second.set_faster(1);
  second.set_best_ms(0.5);
  second.set_best_ratio_to_eager(2.0);
  second.set_round_best_ms(0.5);
  second.set_best_idea("Keep the row in registers");
  second.clear_idea_titles();
  second.add_idea_titles("Keep the row in registers");
  search.set_best_candidate_id(kCandidateId);
  search.set_best_ms(0.5);
  search.set_best_ratio_to_eager(2.0);
  return search;
}

v1::Candidate FakeCandidate() {
  v1::Candidate candidate;
  candidate.set_id(kCandidateId);
  candidate.set_search_id(kSearchId);
  candidate.set_round(2);
  candidate.set_index(1);
  candidate.set_state("done");
  candidate.set_model("catalog");
  candidate.set_parent_id("beefbeef00");
  candidate.set_source("/* warpsmith-plan {\"version\": 1} */\n__global__ void k() {}\n");
  v1::Idea& idea = *candidate.mutable_idea();
  idea.set_id("1dea0001");
  idea.set_title("Keep the row in registers");
  idea.set_category("memory_access");
  idea.set_hypothesis("The row is read once instead of twice.");
  idea.add_plan("read");
  idea.add_plan("reduce");
  v1::Evaluation& evaluation = *candidate.mutable_evaluation();
  evaluation.set_outcome(v1::OUTCOME_OK);
  evaluation.set_reached(v1::PRECISION_CLASS_FP32);
  evaluation.set_ratio_to_eager(2.0);
  evaluation.set_ratio_to_best_baseline(1.6);
  evaluation.set_best_baseline("compile_default");
  evaluation.add_flags("nondeterministic");
  v1::Timing& timing = *evaluation.mutable_timing();
  timing.set_median_ms(0.5);
  timing.set_spread(0.004);
  timing.set_samples(40);
  timing.set_stage("measure");
  timing.set_device_name("emulated");
  timing.set_emulated(true);
  for (int i = 0; i < 3; ++i) {
    v1::TrialVerdict& trial = *evaluation.add_trials();
    trial.set_distribution(i < 2 ? "plain" : "mean_1000");
    trial.set_passed(true);
    trial.set_relative_rms_error(1e-7 * (i + 1));
    trial.set_worst_tile_error(2e-7);
    trial.set_max_error(3e-7);
  }
  return candidate;
}

v1::Tree FakeTree() {
  v1::Tree tree;
  *tree.mutable_search() = FakeSearch();
  v1::IdeaNode& root = *tree.add_ideas();
  root.set_round(1);
  root.mutable_idea()->set_id("1dea0000");
  root.mutable_idea()->set_title("One block a row");
  root.mutable_idea()->set_category("parallelism_occupancy");
  v1::Candidate& parent = *root.add_candidates();
  parent.set_id("beefbeef00");
  parent.set_state("done");
  parent.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  parent.mutable_evaluation()->mutable_timing()->set_median_ms(1.25);
  parent.mutable_evaluation()->set_ratio_to_eager(0.8);
  v1::Candidate& failed = *root.add_candidates();
  failed.set_id("deadbeef00");
  failed.set_index(1);
  failed.set_state("done");
  failed.mutable_evaluation()->set_outcome(v1::OUTCOME_COMPILE_ERROR);
  failed.mutable_evaluation()->set_reason("source");
  v1::IdeaNode& child = *tree.add_ideas();
  child.set_round(2);
  child.set_parent_id("beefbeef00");
  *child.mutable_idea() = FakeCandidate().idea();
  *child.add_candidates() = FakeCandidate();
  v1::Candidate& rejected = *child.add_candidates();
  rejected.set_id("0badc0de00");
  rejected.set_index(1);
  rejected.set_state("rejected");
  rejected.set_reject_reason("no_code");
  tree.add_best_lineage("beefbeef00");
  tree.add_best_lineage(kCandidateId);
  return tree;
}

v1::Explanation FakeExplanation() {
  v1::Explanation explanation;
  *explanation.mutable_search() = FakeSearch();
  explanation.set_ideas(8);
  explanation.set_generated(16);
  explanation.set_rejected(1);
  explanation.set_compiled(14);
  explanation.set_correct(10);
  explanation.set_faster_than_parent(2);
  v1::FailureClass& failure = *explanation.add_failures();
  failure.set_outcome("wrong_output");
  failure.set_count(3);
  failure.set_example("output[0,1]: expected 0.5, got 0");
  failure.set_candidate_id("deadbeef00");
  explanation.set_noise(0.012);
  explanation.set_last_gain(1.5);
  explanation.add_findings("Three of sixteen kernels compute something else; most leave out the last partial tile.");
  return explanation;
}

v1::ClusterStatus FakeStatus() {
  v1::ClusterStatus status;
  status.set_version("0.1.0");
  status.set_schema_version(1);
  status.set_term(3);
  status.set_started_at_us(1'700'000'000'000'000);
  status.set_gateway_reachable(true);
  v1::WorkerStatus& worker = *status.add_workers();
  worker.set_worker_id("worker-0");
  worker.set_connected(true);
  worker.set_running(1);
  worker.mutable_device()->set_name("emulated");
  worker.mutable_device()->set_emulated(true);
  v1::QueueStatus& queue = *status.add_queues();
  queue.set_kind("evaluate");
  queue.set_available(4);
  queue.set_running(1);
  v1::ModelDescription& model = *status.add_models();
  model.set_name("catalog");
  model.set_provider("catalog");
  model.set_enabled(true);
  return status;
}

v1::Search FakeOperatorService::Ended() const {
  v1::Search search = FakeSearch();
  if (ending_ == Ending::kKernel) return search;
  search.clear_best_candidate_id();
  search.clear_best_ms();
  search.clear_best_ratio_to_eager();
  if (ending_ == Ending::kFailed) {
    search.set_state(v1::SEARCH_STATE_FAILED);
    search.set_error("layer_norm.py has no class Model");
  }
  return search;
}

v1::SubmitSearchRequest FakeOperatorService::submitted() const {
  std::lock_guard lock(mutex_);
  return submitted_;
}

v1::InjectIdeaRequest FakeOperatorService::idea() const {
  std::lock_guard lock(mutex_);
  return idea_;
}

v1::InjectKernelRequest FakeOperatorService::kernel() const {
  std::lock_guard lock(mutex_);
  return kernel_;
}

std::string FakeOperatorService::cancelled() const {
  std::lock_guard lock(mutex_);
  return cancelled_;
}

grpc::Status FakeOperatorService::SubmitSearch(grpc::ServerContext*, const v1::SubmitSearchRequest* request,
                                               v1::SubmitSearchReply* reply) {
  std::lock_guard lock(mutex_);
  submitted_ = *request;
  reply->set_search_id(kSearchId);
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::ListSearches(grpc::ServerContext*, const v1::ListSearchesRequest* request,
                                               v1::ListSearchesReply* reply) {
  if (request->state() != "failed") *reply->add_searches() = Ended();
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::GetSearch(grpc::ServerContext*, const v1::GetSearchRequest* request,
                                            v1::Search* reply) {
  if (!Knows(kSearchId, request->search_id())) return Unknown(request->search_id());
  *reply = Ended();
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::WatchSearch(grpc::ServerContext* context, const v1::GetSearchRequest* request,
                                              grpc::ServerWriter<v1::SearchEvent>* writer) {
  if (!Knows(kSearchId, request->search_id())) return Unknown(request->search_id());
  v1::SearchEvent event;
  *event.mutable_search() = FakeSearch();
  event.mutable_search()->set_state(v1::SEARCH_STATE_RUNNING);
  event.mutable_search()->clear_finish_reason();
  event.mutable_search()->mutable_rounds()->RemoveLast();
  event.set_tasks_running(2);
  event.set_tasks_waiting(5);
  writer->Write(event);
  if (breaks_.fetch_sub(1) > 0) return {grpc::StatusCode::UNAVAILABLE, "the coordinator is going away"};
  event.set_line("round 2: c0ffee12 is correct: 0.500 ms, 200.0 % of PyTorch");
  writer->Write(event);
  while (ending_ == Ending::kNever && !context->IsCancelled()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  *event.mutable_search() = Ended();
  event.clear_line();
  writer->Write(event);
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::GetTree(grpc::ServerContext*, const v1::GetSearchRequest* request, v1::Tree* reply) {
  if (!Knows(kSearchId, request->search_id())) return Unknown(request->search_id());
  *reply = FakeTree();
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::GetCandidate(grpc::ServerContext*, const v1::GetCandidateRequest* request,
                                               v1::Candidate* reply) {
  if (!Knows(kCandidateId, request->candidate_id())) {
    return {grpc::StatusCode::NOT_FOUND, "there is no candidate " + request->candidate_id()};
  }
  *reply = FakeCandidate();
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::CancelSearch(grpc::ServerContext*, const v1::GetSearchRequest* request,
                                               v1::Search* reply) {
  std::lock_guard lock(mutex_);
  cancelled_ = request->search_id();
  *reply = FakeSearch();
  reply->set_state(v1::SEARCH_STATE_CANCELLED);
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::InjectIdea(grpc::ServerContext*, const v1::InjectIdeaRequest* request,
                                             v1::InjectReply* reply) {
  std::lock_guard lock(mutex_);
  idea_ = *request;
  reply->set_id("1dea0002");
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::InjectKernel(grpc::ServerContext*, const v1::InjectKernelRequest* request,
                                               v1::InjectReply* reply) {
  std::lock_guard lock(mutex_);
  kernel_ = *request;
  reply->set_id("cafe0001");
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::ListKernels(grpc::ServerContext*, const v1::ListKernelsRequest* request,
                                              v1::ListKernelsReply* reply) {
  if (request->operator_family() == "matmul") return grpc::Status::OK;
  v1::BankKernel& kernel = *reply->add_kernels();
  kernel.set_candidate_id(kCandidateId);
  kernel.set_operator_family("layer_norm");
  kernel.set_device_class("emulated");
  kernel.set_emulated(true);
  kernel.set_median_ms(0.5);
  kernel.set_ratio_to_eager(2.0);
  kernel.set_precision_class(v1::PRECISION_CLASS_FP32);
  kernel.set_problem_name("layer_norm");
  kernel.set_idea_title("Keep the row in registers");
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::Explain(grpc::ServerContext*, const v1::GetSearchRequest* request,
                                          v1::Explanation* reply) {
  if (!Knows(kSearchId, request->search_id())) return Unknown(request->search_id());
  *reply = FakeExplanation();
  return grpc::Status::OK;
}

grpc::Status FakeOperatorService::GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*,
                                            v1::ClusterStatus* reply) {
  *reply = FakeStatus();
  return grpc::Status::OK;
}

}  // namespace warpsmith::cli
