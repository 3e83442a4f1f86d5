#include "tests/coordinator/batch_fixture.h"

#include "common/grpc_channel.h"
#include "common/grpc_status.h"

namespace warpsmith::testing {

v1::ProblemSource TestProblem(const std::string& name, int rounds) {
  v1::ProblemSource problem;
  problem.set_name(name);
  problem.set_source("class Model: pass  # " + name + "\n");
  problem.set_level(1);
  problem.set_number(std::atoi(name.c_str()));
  *problem.mutable_settings() = SmallSearch(rounds).settings();
  return problem;
}

BatchCluster::BatchCluster() {
  // PyTorch takes 1 ms.
  gateway.write_kernel = [](const v1::ImplementIdeaRequest& request, int index) {
    const std::string& problem = request.context().problem().name();
    const std::string kernel = request.idea().id() + "/" + std::to_string(index);
    const double gain = 1 - 0.01 * request.call().round() - 0.001 * index;
    if (problem.find("wrong") != std::string::npos) return KernelText(kernel, 1, "wrong_output");
    if (problem.find("quarter") != std::string::npos) return KernelText(kernel, 0.25 * gain);
    if (problem.find("half") != std::string::npos) return KernelText(kernel, 0.5 * gain);
    return KernelText(kernel, 0.8 * gain);
  };
}

absl::StatusOr<v1::Batch> BatchCluster::SubmitBatch(const std::vector<v1::ProblemSource>& problems,
                                                    v1::BatchLimits limits, const std::string& request_id, bool more) {
  v1::SubmitBatchRequest request;
  request.set_name("test");
  request.set_submitted_by("ada");
  request.set_request_id(request_id);
  *request.mutable_limits() = limits;
  request.set_more(more);
  for (const v1::ProblemSource& problem : problems) *request.add_problems() = problem;
  return Batch(&v1::BatchService::Stub::SubmitBatch, request);
}

absl::StatusOr<v1::Batch> BatchCluster::Add(const std::string& id, const std::vector<v1::ProblemSource>& problems,
                                            bool more) {
  v1::AddProblemsRequest request;
  request.set_batch_id(id);
  request.set_more(more);
  for (const v1::ProblemSource& problem : problems) *request.add_problems() = problem;
  return Batch(&v1::BatchService::Stub::AddProblems, request);
}

absl::StatusOr<v1::Batch> BatchCluster::On(Method method, const std::string& id) {
  v1::GetBatchRequest request;
  request.set_batch_id(id);
  return Batch(method, request);
}

v1::Batch BatchCluster::FinishedBatch(const std::string& id, double seconds) {
  v1::Batch batch;
  Eventually(
      [&] {
        if (auto now = GetBatch(id); now.ok()) batch = *now;
        return batch.state() == "done" || batch.state() == "cancelled";
      },
      seconds);
  return batch;
}

std::unique_ptr<v1::BatchService::Stub> BatchCluster::Stub() { return v1::BatchService::NewStub(ConnectTo(address())); }
absl::Status BatchCluster::Status(const grpc::Status& status) { return FromGrpc(status); }

}  // namespace warpsmith::testing
