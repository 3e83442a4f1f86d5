// A coordinator with a fake gateway, an operator's client and a database of its own.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_COORDINATOR_CLUSTER_FIXTURE_H_
#define WARPSMITH_TESTS_COORDINATOR_CLUSTER_FIXTURE_H_

#include <functional>
#include <memory>
#include <string>

#include "coordinator/coordinator.h"
#include "tests/coordinator/fake_gateway.h"
#include "tests/coordinator/scripted_worker.h"
#include "tests/support/postgres_server.h"
#include "warpsmith/v1/operator.pb.h"

namespace warpsmith::testing {

class Cluster {
 public:
  Cluster();
  ~Cluster();

  void StartCoordinator();  // on the same port after a stop
  void StopCoordinator() { coordinator_.reset(); }
  Coordinator& coordinator() { return *coordinator_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string Query(const std::string& sql) { return PostgresServer::Shared().Query(options.database, sql); }
  std::unique_ptr<ScriptedWorker> Worker(const std::string& worker_id, const std::string& boot_id = "boot1",
                                         int slots = 4, bool holding = false) {
    return std::make_unique<ScriptedWorker>(address(), worker_id, boot_id, slots, holding);
  }

  // The operator's calls.
  absl::StatusOr<std::string> Submit(v1::SubmitSearchRequest request);
  absl::StatusOr<v1::Search> Get(const std::string& id);
  absl::StatusOr<v1::Tree> Tree(const std::string& id);
  absl::StatusOr<v1::Candidate> Candidate(const std::string& id);
  absl::StatusOr<v1::Search> Cancel(const std::string& id);
  absl::StatusOr<std::string> InjectIdea(const v1::InjectIdeaRequest& request);
  absl::StatusOr<std::string> InjectKernel(const v1::InjectKernelRequest& request);
  absl::StatusOr<v1::ListSearchesReply> List(const v1::ListSearchesRequest& request);
  absl::StatusOr<v1::ListKernelsReply> Kernels(const v1::ListKernelsRequest& request);
  absl::StatusOr<v1::Explanation> Explain(const std::string& id);
  absl::StatusOr<v1::ClusterStatus> Status();
  // Watches to the end, or until `each` says false.
  absl::Status Watch(const std::string& id, const std::function<bool(const v1::SearchEvent&)>& each);
  absl::StatusOr<std::string> PutBlob(const std::string& data, const std::string& sha256);
  absl::StatusOr<std::string> GetBlob(const std::string& sha256);

  // Polls until it holds; false after `seconds`.
  static bool Eventually(const std::function<bool()>& holds, double seconds = 20);
  // Waits for the search's end and returns it.
  v1::Search Finished(const std::string& id, double seconds = 60);
  // Whether every task of the database ended once, and each evaluation belongs to one.
  std::string Bookkeeping();

  FakeGateway gateway;
  CoordinatorOptions options;

 private:
  struct Client;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Coordinator> coordinator_;
  int port_ = 0;
};

// A small search: 2 rounds of 1 parent, 2 ideas, 2 implementations, no repairs.
v1::SubmitSearchRequest SmallSearch(int rounds = 2);

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_COORDINATOR_CLUSTER_FIXTURE_H_
